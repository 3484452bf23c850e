import Core
import SystemPackage

/// Decides whether a calibration from the user applies to a capture, for every stage, export and
/// verb that takes one.
public struct CalibrationFit: Sendable {
  /// Camera arrangement of the capture; `nil` if it states none, in which case any calibration
  /// applies.
  private let arrangement: CameraArrangement?
  private let deviceID: String?

  init(_ capture: Capture) {
    arrangement = capture.alignment?.arrangement
    deviceID = capture.device.id
  }

  init(_ capture: CaptureSummary) {
    arrangement = capture.arrangement
    deviceID = capture.deviceID
  }

  /// The words of every refusal before its reason.
  public static let refusalPhrase = "does not apply to this capture"

  /// Why a file does not apply; `nil` if it does.
  ///
  /// Messages contain nothing of the capture, so that captures with the same cause are reported
  /// together.
  func refusal(of stated: StatedCalibration, in file: FilePath) -> CalibrationError? {
    if let deviceID {
      for (key, named) in Self.devices(stated, file) where !Self.isSame(named, deviceID) {
        return CalibrationError(
          file: file, key: key, value: named,
          problem:
            "\(Self.refusalPhrase): it is of another device; give that of the capture's own device, "
            + "or a folder of calibrations by device (calibrationFolder)")
      }
    }
    switch (arrangement, stated.calibration.arrangement) {
    case (.oneCamera, .twoCameras):
      return CalibrationError(
        file: file,
        problem:
          "\(Self.refusalPhrase): it is of two cameras, and depth and color of the capture are one "
          + #"camera; leave it out, or give one with "registered": true"#)
    case (.twoCameras, .oneCamera):
      return CalibrationError(
        file: file,
        problem:
          "\(Self.refusalPhrase): it is of one camera, and depth and color of the capture are two; "
          + "leave it out, or give one with depthIntrinsics and colorFromDepth")
    case (.oneCamera, .oneCamera), (.twoCameras, .twoCameras), (nil, _), (_, nil): return nil
    }
  }

  /// A doubt if the file names a device that cannot be compared with the capture's; `nil`
  /// otherwise.
  func doubt(of stated: StatedCalibration, in file: FilePath) -> CaptureWarning? {
    guard deviceID == nil, let (_, named) = Self.devices(stated, file).first else { return nil }
    return CaptureWarning(
      doubt:
        "the calibration is of device \(named), and the capture does not say which device it is of",
      about: "device")
  }

  private static func devices(
    _ stated: StatedCalibration, _ file: FilePath
  ) -> [(key: String, id: String)] {
    let named = stated.deviceID.map { [("deviceId", $0)] } ?? []
    let inName = StatedCalibration.deviceID(inNameOf: file).map { [("file name", $0)] } ?? []
    return named + inName
  }

  private static func isSame(_ a: String, _ b: String) -> Bool { a.lowercased() == b.lowercased() }
}

extension CaptureWarning {
  /// A doubt about a calibration that is used anyway: something that is possible but unlikely, or that it cannot state.
  ///
  /// - Parameter subject: `calibration`, `color`, `depth` or `device`.
  fileprivate init(doubt message: String, about subject: String) {
    self.init(.calibrationSuspect, subject, message)
  }

  /// Warns that a file states one camera for frames whose own cameras change; `nil` if they do not, or by less than is
  /// usual.
  fileprivate init?(oneCameraFor capture: Capture) {
    guard let rows = capture.intrinsics.value, let first = rows.first else { return nil }
    let cameras = rows.filter {
      ($0.width, $0.height) == (first.width, first.height)
        && [$0.fx, $0.fy, $0.cx, $0.cy].allSatisfy(\.isFinite)
    }.map {
      PinholeCamera($0.camera, PictureSize(width: first.width ?? 0, height: first.height ?? 0))
    }
    guard let one = cameras.first, cameras.contains(where: { $0 != one }),
      let median = PinholeCamera(medianOf: cameras)
    else { return nil }
    let spread = CameraSpread(of: cameras, about: median)
    guard spread.unusual > 0 else { return nil }
    self.init(
      .intrinsicsVary, "intrinsics", count: spread.unusual,
      "one camera (that of the calibration file) stands for \(cameras.count) frames whose own cameras "
        + "change: \(spread.words(from: "their median"))")
  }
}

/// A calibration from the user that applies to a capture.
public struct FittingCalibration: Sendable {
  public var calibration: DepthCalibration
  /// Doubts to report.
  public var doubts: [CaptureWarning]

  /// Adds the doubts about the calibration itself, which may also be the capture's own.
  public init(_ calibration: DepthCalibration, doubts: [CaptureWarning] = []) {
    self.calibration = calibration
    self.doubts =
      doubts
      + (calibration.suspicion.map { [CaptureWarning(doubt: $0, about: "calibration")] } ?? [])
  }
}

extension CalibrationFile {
  /// Reads the calibration in a file, for a capture.
  ///
  /// Throws the errors of `read`, and an error when the file does not apply to the capture
  /// (`CalibrationFit`). Sizes may differ from those of the capture's pictures.
  ///
  /// - Parameter depthSize: size of the depth pictures, if known independently of the capture.
  public static func read(
    _ path: FilePath, for capture: Capture, _ need: CalibrationNeed = .depthAndColor,
    depthSize: PictureSize? = nil
  ) throws(CalibrationError) -> FittingCalibration {
    let stated = try readStated(
      path, depthSize: depthSize ?? capture.depth.value?.size,
      colorSize: capture.storedColorSize, for: need)
    let fit = CalibrationFit(capture)
    if let refusal = fit.refusal(of: stated, in: path) { throw refusal }
    var doubts = stated.calibration.focalDoubts(against: capture, need)
    if let doubt = fit.doubt(of: stated, in: path) { doubts.append(doubt) }
    if let doubt = CaptureWarning(oneCameraFor: capture) { doubts.append(doubt) }
    return FittingCalibration(stated.calibration, doubts: doubts)
  }

  /// Why a file does not apply to a capture, as far as this is known before the capture is read.
  /// `nil` also for an unreadable file, which is reported where it is used.
  ///
  /// Cost: reading a small file.
  public static func refusal(
    of path: FilePath, for capture: CaptureSummary
  ) -> CalibrationError? {
    guard let text = try? text(of: path), let stated = try? parseStated(text) else { return nil }
    return CalibrationFit(capture).refusal(of: stated, in: path)
  }
}

extension DepthCalibration {
  /// Relative deviation below which focal lengths of one device model lie.
  static let largestFocalDeviation = 0.05

  /// Doubts about focal lengths that differ from the recorded ones by more than 5 %, one per
  /// camera: the lens of another device, or another crop of the picture.
  ///
  /// Compared at the size of the recorded camera. Cameras of another aspect are not compared.
  func focalDoubts(against capture: Capture, _ need: CalibrationNeed) -> [CaptureWarning] {
    var doubts: [CaptureWarning] = []
    if let stated = colorIntrinsics, let recorded = capture.recordedColorCamera {
      doubts += Self.doubt("color", stated, recorded)
    }
    if need == .depthAndColor, let stated = depthIntrinsics,
      let recorded = capture.alignment?.depthIntrinsics
    {
      doubts += Self.doubt("depth", stated, recorded)
    }
    return doubts
  }

  private static func doubt(
    _ subject: String, _ stated: PinholeCamera, _ recorded: PinholeCamera
  ) -> [CaptureWarning] {
    guard let stated = stated.fitted(toWidth: recorded.width, height: recorded.height) else {
      return []
    }
    let pairs = [("fx", stated.fx, recorded.fx), ("fy", stated.fy, recorded.fy)]
    let odd = pairs.filter { _, stated, recorded in
      recorded > 0 && recorded.isFinite
        && abs(stated - recorded) > largestFocalDeviation * recorded
    }
    guard let (name, value, was) = odd.max(by: { abs($0.1 / $0.2 - 1) < abs($1.1 / $1.2 - 1) })
    else { return [] }
    let percent = ((value / was - 1) * 1000).rounded() / 10
    return [
      CaptureWarning(
        doubt:
          "\(name) of the calibration's \(subject) camera is \(short(value)) pixels, that of the "
          + "capture \(short(was)) (\(percent > 0 ? "+" : "")\(percent) %): is it of this device and size?",
        about: subject)
    ]
  }

  private static func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension Capture {
  /// The size of the color pictures before the turn to upright.
  public var storedColorSize: PictureSize? {
    guard let color = color.value, let width = color.description.width,
      let height = color.description.height
    else { return nil }
    let size = PictureSize(width: width, height: height)
    return color.clockwiseQuarterTurns % 2 == 0 ? size : size.turned
  }

  /// The color camera that the capture states, for stored pictures: that of the alignment, else
  /// that of the first row of intrinsics.
  fileprivate var recordedColorCamera: PinholeCamera? {
    if let camera = alignment?.colorIntrinsics { return camera }
    guard let row = intrinsics.value?.first else { return nil }
    let own = row.width.flatMap { width in row.height.map { PictureSize(width: width, height: $0) }
    }
    return (storedColorSize ?? own).map { PinholeCamera(row.camera, $0) }
  }
}
