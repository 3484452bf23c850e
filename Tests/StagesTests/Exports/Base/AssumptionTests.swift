@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Stages

@Suite("What exports say of numbers that were not measured")
struct AssumptionTests {
  /// Something that was not measured, and which formats state it.
  struct Case: Sendable, CustomTestStringConvertible {
    let assumption: ExportAssumption
    let what: String
    let formats: Set<String>
    let change: @Sendable (inout EveryFormat) -> Void

    init(
      _ assumption: ExportAssumption, _ what: String, _ formats: Set<String>,
      _ change: @escaping @Sendable (inout EveryFormat) -> Void = { _ in }
    ) {
      (self.assumption, self.what, self.formats, self.change) = (assumption, what, formats, change)
    }

    var testDescription: String { "\(assumption.rawValue): \(what)" }
  }

  private static let depth: Set<String> = [
    "sens", "scannet", "scannetpp", "open3d", "tum", "mcap", "nerfstudio", "colmap", "ply",
  ]
  /// Those that do not take registered depth on its own grid.
  private static let aligned: Set<String> = ["open3d", "tum", "mcap", "nerfstudio", "colmap"]
  private static let cameras = depth.union(["euroc", "spectacular", "kitti"])
  private static let pictures = cameras.union(["kalibr"])
  private static let frames = pictures.union(["gpx", "geojson"])
  private static let joined: Set<String> = ["euroc", "kalibr", "mcap"]
  private static let force = joined.union(["spectacular"])
  private static let rigs: Set<String> = ["euroc", "spectacular", "mcap"]
  private static let tracks: Set<String> = ["gpx", "geojson", "kml"]

  static let cases: [Case] = [
    Case(.times, "the family has nominal times", frames) { $0.capture.clock.base = .nominal },
    Case(.times, "a bare stream has no times", frames) {
      $0.capture.clock.base = .video
      $0.setEncoding("h264-annexb")
    },
    Case(.times, "recorded times", []),
    Case(.timesOfVideo, "the container's times alone", frames) { $0.capture.clock.base = .video },
    Case(.timesOfVideo, "some pictures have no row", frames) {
      $0.warn(.timestampsMissing, "video", "pictures without a row")
    },
    Case(.unknownTimes, "a frame without depth time", ["sens"]) {
      $0.capture.frames[1].depthTimestamp = nil
    },
    Case(.depthTimes, "a frame without depth time", ["tum", "mcap"]) {
      $0.capture.frames[1].depthTimestamp = nil
    },
    Case(.pairing, "pictures paired by order", pictures) {
      $0.warn(.pairingApproximate, "color", "paired by order")
    },
    Case(.pairing, "frames paired by order", frames) {
      $0.warn(.pairingApproximate, "frames", "paired by order")
    },
    Case(.pairing, "depth of another length", depth) {
      $0.warn(.frameCountMismatch, "depth", "paired by index")
    },
    Case(.pairing, "samples of another number", []) {
      $0.warn(.frameCountMismatch, "imu", "7 too many")
    },
    Case(.poses, "no poses", ["sens"]) { $0.capture.poses = .absent("no poses") },
    Case(.worldUp, "y is up", ["nerfstudio", "mcap"]),
    Case(.worldUp, "a released scene has z up", []) { $0.capture.generation = "scannetpp" },
    Case(.worldUp, "nobody knows what is up", []) { $0.setWorld(.firstCamera) },
    Case(.gravity, "no accelerometer", force) {
      $0.capture.imu = EveryFormat.imu(["rotationRate", "userAcceleration", "gravity"])
    },
    Case(.accelerationSign, "nobody states the convention", force) {
      $0.settings["convention"] = nil
    },
    Case(.acceleration, "other times than the gyroscope's", joined) {
      $0.capture.imu = EveryFormat.imu(["accelerometer", "gyroscope"], late: "accelerometer")
    },
    Case(.sampleTimes, "stamps that lost digits", force.union(["sens", "scannetpp"])) {
      let stamps = [5, 5, 10].map { Timestamp(nanoseconds: $0) }
      guard var imu = $0.capture.imu.value, let spread = TruncatedTimes.spread(stamps) else {
        return
      }
      imu.truncatedTimes = ["gyroscope": spread.found]
      $0.capture.imu = .present(imu)
    },
    Case(.nearestSamples, "samples beside frames", ["scannetpp"]),
    Case(.missingSensors, "no magnetometer", ["sens"]) {
      $0.capture.imu = EveryFormat.imu([
        "gyroscope", "accelerometer", "userAcceleration", "gravity", "attitude",
      ])
    },
    Case(.timeOffset, "no parameter for it", ["sens", "scannetpp"]),
    Case(.timeOffset, "none is given", force.union(["sens", "scannetpp"])) {
      $0.settings["timeOffset"] = nil
    },
    Case(.imuFromCameraTranslation, "phones do not record it", rigs),
    Case(.imuFromCameraRotation, "phones do not record it", rigs),
    Case(.noise, "none is given", ["euroc", "kalibr"]) { $0.settings["gyroscopeNoise"] = nil },
    Case(.covariances, "not known", ["mcap"]),
    Case(.velocity, "not known", ["euroc"]),
    Case(.gyroscopeBias, "not known", ["euroc"]),
    Case(.accelerometerBias, "not known", ["euroc"]),
    Case(.velocity, "no poses beside which it would stand", []) {
      $0.capture.poses = .absent("no poses")
    },
    Case(.calibration, "a file is given", cameras) {
      $0.settings["calibration"] = calibrationFile.string
    },
    Case(.alignedCalibration, "depth was aligned by a file", aligned) {
      $0.isAlignedByFile = true
    },
    Case(.intrinsics, "nominal cameras", cameras) {
      $0.capture.familyDescription = ScanNetReader.description
    },
    Case(.rescaledIntrinsics, "another picture size", cameras) {
      $0.warn(.sizeMismatch, "color", "the pictures have 16x12: intrinsics are rescaled")
    },
    Case(
      .intrinsicsOfOthers, "a frame without intrinsics",
      ["sens", "scannet", "tum", "euroc", "spectacular"]
    ) { $0.capture.intrinsics = .present([0, 2].map(EveryFormat.intrinsics)) },
    Case(.distortion, "no coefficients", cameras) {
      $0.capture.alignment?.colorDistortion = .none
    },
    Case(.registration, "no depth camera is stated", depth) {
      $0.capture.alignment?.depthIntrinsics = nil
    },
    Case(.depthSize, "the metadata say otherwise", depth) {
      $0.warn(.sizeMismatch, "depth", "16x12 is used")
    },
    Case(.alignedDepth, "depth on a coarser grid", aligned) {
      $0.capture.depth = .lost(8, 6, frames: EveryFormat.frameCount)
      $0.capture.alignment?.depthIntrinsics = EveryFormat.camera.scaled(toWidth: 8, height: 6)
    },
    Case(.confidence, "lost pictures", ["ply"]) {
      $0.capture.confidence = .lost(
        EveryFormat.width, EveryFormat.height, frames: EveryFormat.frameCount)
      $0.settings["confidence"] = "true"
    },
    Case(.altitude, "not recorded", tracks),
    Case(.timesOfDay, "the start is known to seconds", tracks) {
      $0.capture.recordedAt = "2026-01-24T10:00:00Z"
    },
    Case(.interpolatedPositions, "fixes between frames", ["gpx", "geojson"]) {
      $0.capture.geo = EveryFormat.geo(at: [
        Timestamp(nanoseconds: 900_000_000), Timestamp(nanoseconds: 1_200_000_000),
      ])
    },
    Case(.heldPositions, "fixes before the frames", ["gpx", "geojson"]) {
      $0.capture.geo = EveryFormat.geo(at: [Timestamp(nanoseconds: 900_000_000)])
    },
    Case(.heldPositions, "a single fix", tracks) {
      $0.capture.geo = EveryFormat.geo(at: [EveryFormat.time(0)], .firstFrameOnly)
    },
  ]

  private static let calibrationFolder = try? TemporaryFolder()
  private static let calibrationFile: FilePath = {
    let file = (calibrationFolder?.path ?? "/tmp").appending("lab.json")
    let camera = #"{"width": 16, "height": 12, "fx": 10, "fy": 12, "cx": 7.25, "cy": 5.5}"#
    let text =
      #"{"registered": true, "colorFromDepth": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1], "#
      + #""depthIntrinsics": \#(camera), "colorIntrinsics": \#(camera), "#
      + #""distortion": {"color": {"k1": 0.01}}}"#
    try? file.write(text)
    return file
  }()

  @Test("There is a case for each")
  func complete() {
    #expect(Set(Self.cases.map(\.assumption)) == Set(ExportAssumption.allCases))
  }

  @Test(
    "Exactly the formats that state a number say that it was not measured", arguments: cases)
  func everyFormat(_ example: Case) throws {
    var capture = EveryFormat()
    example.change(&capture)
    var written: Set<String> = []
    for kind in EveryFormat.kinds {
      let name = String(kind.name.dropFirst("export-".count))
      guard let export = try capture.export(kind) else { continue }
      written.insert(name)
      let unwritten = export.notMeasured.count {
        $0.hasPrefix("There is no altitude") || $0.hasPrefix("The noise densities")
      }
      let beginning =
        example.assumption == .altitude ? "There is no altitude" : "The noise densities"
      let isSaid =
        example.assumption.isWritten
        ? export.assumed.contains(example.assumption.rawValue)
        : export.notMeasured.contains { $0.hasPrefix(beginning) }
      #expect(
        isSaid == example.formats.contains(name),
        "\(name): \(export.assumed) \(export.notMeasured)")
      // The list and the text say the same.
      if export.assumed.isEmpty, unwritten == 0 {
        #expect(export.notMeasured == ["Nothing: every number was recorded."], "\(name)")
      } else {
        #expect(
          export.notMeasured.count == export.assumed.count + unwritten,
          "\(name): \(export.assumed) \(export.notMeasured)")
        #expect(!export.readme.contains("every number was recorded"), "\(name)")
      }
    }
    #expect(written.isSuperset(of: example.formats), "\(example.formats.subtracting(written))")
  }
}

extension EveryFormat {
  fileprivate mutating func warn(_ code: WarningCode, _ subject: String, _ message: String) {
    capture.warnings.append(CaptureWarning(code, subject, message))
  }

  fileprivate mutating func setEncoding(_ encoding: String) {
    guard var color = capture.color.value else {
      Issue.record("the capture has no color whose encoding could be set")
      return
    }
    color.description.encoding = encoding
    capture.color = .present(color)
  }
}
