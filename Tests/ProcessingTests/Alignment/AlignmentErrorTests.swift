@testable import Core
@testable import Processing
import Testing

@Suite("Calibrations that cannot be used")
struct AlignmentErrorTests {
  typealias Known = AlignmentGeometryTests

  @Test("What is missing is named")
  func missing() {
    let all = Known.calibration()
    var noColor = all
    noColor.colorIntrinsics = nil
    var noDepth = all
    noDepth.depthIntrinsics = nil
    var noTransform = all
    noTransform.colorFromDepth = nil
    for (calibration, missing) in [
      (noColor, ["colorIntrinsics"]), (noDepth, ["depthIntrinsics"]),
      (noTransform, ["colorFromDepth"]),
      (
        DepthCalibration(registered: false),
        ["colorIntrinsics", "depthIntrinsics", "colorFromDepth"]
      ),
      (DepthCalibration(registered: true), ["colorIntrinsics", "depthIntrinsics"]),
    ] {
      #expect(throws: AlignmentError.notApplicable(missing: missing)) {
        try DepthAligner(calibration: calibration)
      }
    }
  }

  @Test("A registered capture needs the color intrinsics and a depth size only")
  func registered() throws {
    let calibration = DepthCalibration(registered: true, colorIntrinsics: Known.colorCamera)
    let size = PictureSize(width: 26, height: 20)
    let aligner = try DepthAligner(calibration: calibration, depthSize: size)
    #expect(aligner.depthSize == size)
    #expect(aligner.colorFromDepth.isIdentity)
    // One that states depth intrinsics keeps them.
    let stated = try DepthAligner(
      calibration: DepthCalibration(
        registered: true, depthIntrinsics: Known.depthCamera, colorIntrinsics: Known.colorCamera))
    #expect(stated.depthSize == PictureSize(width: 64, height: 48))
  }

  @Test("An impossible number is named with its key and its value")
  func faults() throws {
    func fault(_ change: (inout DepthCalibration) -> Void) -> CalibrationFault? {
      var calibration = Known.calibration()
      change(&calibration)
      do throws(AlignmentError) {
        _ = try DepthAligner(calibration: calibration)
      } catch .invalidValue(let fault) {
        return fault
      } catch {}
      return nil
    }
    #expect(fault { $0.depthIntrinsics?.fx = 0 }?.key == "depthIntrinsics.fx")
    #expect(fault { $0.depthIntrinsics?.fx = 0 }?.value == "0.0")
    #expect(fault { $0.colorIntrinsics?.fy = -3 }?.description.contains("-3") == true)
    #expect(fault { $0.colorIntrinsics?.cx = .nan }?.key == "colorIntrinsics.cx")
    #expect(fault { $0.colorIntrinsics?.width = 0 }?.key == "colorIntrinsics.width")
    #expect(fault { $0.depthIntrinsics?.height = 1 << 40 }?.key == "depthIntrinsics.height")
    #expect(fault { $0.depthDistortion.k5 = .infinity }?.key == "distortion.depth.k5")
    #expect(fault { $0.colorDistortion.p1 = .nan }?.key == "distortion.color.p1")
    #expect(fault { $0.colorFromDepth?.translation[1] = .nan }?.key == "colorFromDepth[7]")
    #expect(fault { $0.colorFromDepth?.rotation[0] = 1.002 }?.key == "colorFromDepth")
    #expect(fault { $0.colorFromDepth?.rotation[0] = -1 }?.key == "colorFromDepth")
    #expect(fault { $0.colorFromDepth?.rotation[0] = 1.0003 } == nil)
    let huge = PinholeCamera(width: 16_000, height: 16_000, fx: 1, fy: 1, cx: 0, cy: 0)
    #expect(fault { $0.colorIntrinsics = huge } != nil)
  }

  @Test(
    "Impossible parameters are named",
    arguments: [
      ("discontinuityAbsolute", AlignmentParameters(discontinuityAbsolute: -0.1)),
      ("discontinuityRelative", AlignmentParameters(discontinuityRelative: .nan)),
      ("minimumDepth", AlignmentParameters(minimumDepth: 0)),
      ("minimumDepth", AlignmentParameters(minimumDepth: .infinity)),
    ])
  func parameters(key: String, parameters: AlignmentParameters) {
    do throws(AlignmentError) {
      _ = try DepthAligner(calibration: Known.calibration(), parameters: parameters)
      Issue.record("accepted")
    } catch .invalidValue(let fault) {
      #expect(fault.key == key)
    } catch {
      Issue.record(error)
    }
  }

  @Test("Intrinsics follow a size of the same shape, and another shape is an error")
  func sizes() throws {
    let calibration = Known.calibration()
    let aligner = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 128, height: 96),
      colorSize: PictureSize(width: 65, height: 49))
    #expect(aligner.outputIntrinsics == Known.colorCamera.scaled(toWidth: 65, height: 49))
    #expect(
      aligner.rescaledCameras == [
        CameraRescale(
          camera: .color, from: PictureSize(width: 130, height: 98),
          to: PictureSize(width: 65, height: 49)),
        CameraRescale(
          camera: .depth, from: PictureSize(width: 64, height: 48),
          to: PictureSize(width: 128, height: 96)),
      ])
    let same = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 64, height: 48))
    #expect(same.rescaledCameras.isEmpty)
    // 1 % is still the same shape: 64 × 48 against 1294 × 968 (0.26 %), not against 100 × 80.
    _ = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 1294, height: 968))
    #expect(
      throws: AlignmentError.sizeMismatch(
        camera: .depth, calibration: PictureSize(width: 64, height: 48),
        picture: PictureSize(width: 100, height: 80))
    ) {
      try DepthAligner(
        calibration: calibration, depthSize: PictureSize(width: 100, height: 80))
    }
    #expect(throws: AlignmentError.self) {
      try DepthAligner(calibration: calibration, colorSize: PictureSize(width: 98, height: 130))
    }
    #expect(throws: AlignmentError.self) {
      try DepthAligner(calibration: calibration, colorSize: PictureSize(width: 0, height: 0))
    }
  }
}
