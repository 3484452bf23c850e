import FoundationEssentials
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
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

/// A capture in memory of which every format can be made, as far as possible with every number measured; tests
/// take something away and look what each format says.
struct EveryFormat {
  static let kinds = ExportFormats.kinds

  static let (width, height) = (16, 12)
  static let frameCount = 3
  static let camera = PinholeCamera(width: width, height: height, fx: 10, fy: 12, cx: 7.25, cy: 5.5)

  var capture: Capture
  /// Settings of every format that has such a parameter.
  var settings = [
    "convention": "android", "timeOffset": "1ms", "gyroscopeNoise": "0.001", "pictures": "png",
    "every": "1", "points": "100",
  ]
  /// Whether the stage that aligned depth was given a calibration file.
  var isAlignedByFile = false
  var hasColor = true
  /// What the stage of color says of its pictures; with any, there are no gray pictures.
  var colorRecorded: [String: JSONValue] = [:]
  var hasDepth = true

  init() {
    capture = .made("small")
    capture.familyDescription = ARKitScannerReader.description
    let frames = 0..<Self.frameCount
    capture.frames = frames.map {
      let time = Self.time($0)
      return CaptureFrame(timestamp: time, colorTimestamp: time, depthTimestamp: time)
    }
    capture.color = .stills(Self.width, Self.height, frames: Self.frameCount)
    capture.depth = .lost(Self.width, Self.height, frames: Self.frameCount)
    capture.poses = .poses(
      Dictionary(
        uniqueKeysWithValues: frames.map {
          (
            $0,
            Pose(position: [Double($0), 2, -3], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
          )
        }))
    capture.intrinsics = .present(frames.map(Self.intrinsics))
    var lens = LensDistortion()
    lens.k1 = 0.01
    capture.alignment = DepthCalibration(
      registered: true, colorFromDepth: .identity, depthIntrinsics: Self.camera,
      colorIntrinsics: Self.camera, depthDistortion: lens, colorDistortion: lens)
    let sensors = IMUStream.knownSensors.filter { $0 != "rotationRate" }
    capture.imu = Self.imu(sensors)
    capture.geo = Self.geo(at: frames.map(Self.time))
  }

  mutating func setWorld(_ world: PoseWorld) {
    guard var poses = capture.poses.value else { return }
    poses.world = world
    capture.poses = .present(poses)
  }

  static func time(_ frame: Int) -> Timestamp {
    Timestamp(nanoseconds: 1_000_000_000 + Int64(frame) * 33_000_000)
  }

  static func intrinsics(_ frame: Int) -> IntrinsicsRow {
    IntrinsicsRow(
      frame: frame, width: width, height: height, fx: camera.fx, fy: camera.fy, cx: camera.cx,
      cy: camera.cy)
  }

  /// Samples at 100 Hz around all frames, at the same times for all sensors but one.
  static func imu(
    _ sensors: [String], late: String? = nil
  ) -> StreamState<IMUStream> {
    var samples: [IMUSample] = []
    for step in 0..<12 {
      for (index, sensor) in sensors.enumerated() {
        let offset: Int64 = sensor == late ? 2_000_000 : 0
        samples.append(
          IMUSample(
            timestamp: Timestamp(nanoseconds: 980_000_000 + Int64(step) * 10_000_000 + offset),
            sensor: index, x: 0.125, y: 0.25, z: 9.75))
      }
    }
    return .present(
      IMUStream.sorting(
        samples, sensorNames: sensors,
        description: .untold, convention: .android
      ).stream)
  }

  static func geo(
    at times: [Timestamp], _ coverage: GeoStream.Coverage = .everyFrame
  ) -> StreamState<GeoStream> {
    let positions = times.enumerated().map { index, time in
      GeoPosition(
        timestamp: time, latitude: 40 + Double(index) / 1000, longitude: 8, accuracy: 5)
    }
    return .present(
      GeoStream(
        description: .untold,
        track: GeoTrack(positions: positions), coverage: coverage))
  }

  /// What a format wrote; `nil` where it says that it does not apply.
  func export(_ kind: any ExportStage.Type) throws -> Written? {
    let bench = try StageBench(capture)
    let frames = 0..<Self.frameCount
    let pixels = Self.width * Self.height
    var inputs: [String: InputArtifact] = [:]
    if hasColor {
      inputs["color"] = try bench.color(
        frames.map { frame in
          ColorImage(
            width: Self.width, height: Self.height,
            rgb: (0..<3 * pixels).map { UInt8(truncatingIfNeeded: 40 * frame + $0) })
        }, recorded: colorRecorded)
      if colorRecorded.isEmpty {
        inputs["gray"] = try bench.run(GrayPictures.self, inputs: inputs).artifact
      }
    }
    if hasDepth {
      let depth = frames.map { _ in
        DepthImage(
          width: Self.width, height: Self.height,
          millimeters: Array(repeating: UInt16(1500), count: pixels))
      }
      inputs["aligned"] = try bench.depthPictures(depth)
      if isAlignedByFile {
        inputs["aligned"]?.record.inputs.external["calibration"] = Digest(of: [1])
      }
      inputs["frames"] = try bench.depth(depth)
      let (width, height) = capture.depth.value.map { ($0.width, $0.height) } ?? (1, 1)
      inputs["depth"] = try bench.depthPictures(
        frames.map { _ in
          DepthImage(
            width: width, height: height,
            millimeters: Array(repeating: UInt16(1500), count: width * height))
        }, as: "depth")
    }
    let known = Set(kind.parameters.map(\.name))
    let summary = CaptureSummary(capture, readerVersion: 1)
    var values = ParameterValues(defaultsOf: kind.parameters)
    for (name, text) in settings where known.contains(name) {
      values[name] = try kind.parameters.first { $0.name == name }?.value(from: text)
    }
    guard case .applies = kind.applicability(values, summary) else { return nil }
    let ports = Set(kind.ports.map(\.name))
    let connected = inputs.filter {
      ports.contains($0.key) && kind.connects($0.key, values, summary)
    }
    let output = try bench.run(
      kind, settings.filter { known.contains($0.key) }, inputs: connected)
    return try Written(output)
  }

  struct Written {
    let assumed: [String]
    let readme: String
    /// The text of `export.json`.
    let manifest: String
    /// Items below "Not measured", each on one line.
    let notMeasured: [String]

    private struct Document: Decodable {
      var assumed: [String]
    }

    init(_ output: StageBench.Output) throws {
      let json = try output.file("export.json").data()
      manifest = String(decoding: json, as: UTF8.self)
      assumed = try JSONDecoder().decode(Document.self, from: json).assumed
      readme = try output.text("README.txt").replacing("\n  ", with: " ")
      notMeasured = Self.items("Not measured", readme)
    }

    static func items(_ heading: String, _ readme: String) -> [String] {
      let lines = readme.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      guard let start = lines.firstIndex(of: heading) else { return [] }
      return Array(
        lines[(start + 3)...].prefix { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) })
    }
  }
}
