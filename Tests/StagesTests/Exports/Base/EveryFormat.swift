@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import SystemPackage

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
