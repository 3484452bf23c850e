import FoundationEssentials
import SystemPackage
import TestSupport

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Pages

/// An output folder with one capture in it, published as runs do, to make pages from.
final class CaptureBench {
  let folder: TemporaryFolder
  let layout: OutputLayout
  var capture: CaptureRow

  init(_ name: String = "room-1", state: CaptureState = .done, family: String? = "scannet") throws {
    folder = try TemporaryFolder()
    layout = OutputLayout(root: folder.path, name: name)
    try FileSystem.makeFolder(layout.folder)
    capture = CaptureRow(id: name, family: family, state: state)
  }

  func page(_ redaction: Redaction? = nil) throws -> String {
    String(
      decoding: try CapturePage.document(capture, layout: layout, redaction: redaction),
      as: UTF8.self)
  }

  func write(_ bytes: [UInt8], _ path: String) throws {
    let file = layout.folder.appending(path)
    try FileSystem.makeFolder(file.removingLastComponent())
    try file.write(bytes)
  }

  func write(_ text: String, _ path: String) throws { try write(Array(text.utf8), path) }

  /// A whole artifact.
  func publish(
    _ stage: String, uses: String, _ files: [String: [UInt8]],
    parameters: [String: JSONValue] = [:], warnings: [CaptureWarning] = []
  ) throws {
    for (name, bytes) in files { try write(bytes, "\(stage)/\(name)") }
    let outputs = files.sorted { $0.key < $1.key }.map {
      OutputEntry(path: $0.key, bytes: Int64($0.value.count), sha256: Digest(of: $0.value))
    }
    let record = ArtifactRecord(
      schema: 1, stage: stage, uses: uses, version: 1, fingerprint: Digest(of: stage),
      parameters: parameters, recorded: [:],
      inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:]),
      outputs: outputs, outputDigest: outputs.digest, started: "2026-11-20T22:00:01.000Z",
      finished: "2026-11-20T22:00:03.000Z", seconds: 2, cpuSeconds: 3,
      peakMemoryBytes: 100_000_000, frames: files.count, warnings: warnings)
    try write(Array(JSONEncoder().encode(record)), "\(stage)/artifact.json")
  }

  func publishTables(_ tables: [String: String]) throws {
    try publish("tables", uses: "export-tables", tables.mapValues { Array($0.utf8) })
  }

  func publishMotion(_ rows: String) throws {
    try publish("imu", uses: "match-imu", ["imu.csv": Array(rows.utf8)])
  }

  func publishColor(frames: [Int], width: Int = 64, height: Int = 48) throws {
    try publish(
      "color", uses: "decode-color",
      try files(frames) { frame in
        var image = ColorImage(width: width, height: height)
        for index in image.rgb.indices { image.rgb[index] = UInt8((index &* 7 + frame * 3) % 256) }
        var writer = PNGWriter(compression: .fast)
        return try writer.encode(image)
      })
  }

  func publishDepth(
    _ stage: String = "depth", frames: [Int],
    _ value: (Int, Int) -> UInt16 = { _, x in
      UInt16(800 + x * 10)
    }
  ) throws {
    try publish(
      stage, uses: stage == "depth" ? "export-images" : "align-depth",
      try files(frames) { frame in
        var image = DepthImage(width: 64, height: 48)
        for index in image.millimeters.indices {
          image.millimeters[index] = value(frame, index % 64)
        }
        var writer = PNGWriter(compression: .fast)
        return try writer.encode(image)
      }, parameters: stage == "depth" ? ["stream": .string("depth")] : [:])
  }

  private func files(_ frames: [Int], _ make: (Int) throws -> [UInt8]) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for frame in frames { files["\(Self.padded(frame)).png"] = try make(frame) }
    return files
  }

  static func padded(_ frame: Int) -> String {
    String(repeating: "0", count: max(0, 6 - "\(frame)".count)) + "\(frame)"
  }

  /// Frames every 1/30 s but for the steps given, in nanoseconds, after some frames.
  static func framesTable(_ count: Int, steps: [Int: Int64] = [:]) -> String {
    var text =
      "frame,timestamp_ns,color_timestamp_ns,depth_timestamp_ns,color,depth,confidence,aligned,exposure_s,iso\n"
    var time: Int64 = 5_000_000_000
    for frame in 0..<count {
      text += "\(frame),\(time),,,,,,,,\n"
      time += steps[frame] ?? 33_333_333
    }
    return text
  }

  /// Gyroscope, user acceleration and gravity at 100 Hz.
  static func motionTable(
    _ count: Int, from start: Int64 = 5_000_000_000,
    value: (Int) -> Double = { _ in 0.1 }, skips: Range<Int> = 0..<0
  ) -> String {
    var text = "timestamp_ns,sensor_type,x,y,z\n"
    for index in 0..<count where !skips.contains(index) {
      let time = start + Int64(index) * 10_000_000
      text += "\(time),gyroscope,\(value(index)),0.2,-0.1\n"
      text += "\(time),userAcceleration,0.01,0.02,0.03\n\(time),gravity,0,-9.8,0.1\n"
    }
    return text
  }

  static let description = """
    {"schema":1,"id":"room-1","family":"scannet","generation":"v1","path":"/in/room-1",
    "device":{"id":"A8ECBA23-EFA8-4B99-A459-A1949DC76E26","name":"Ada's iPad","model":"iPad8,10"},
    "scene":{"label":"Office12","type":"Bedroom / Hotel","description":"the messy one"},
    "recordedAt":"2026-11-20","clock":{"base":"uptime","unit":"s"},"frames":70,
    "streams":{"color":{"file":"room-1.h264","encoding":"h264-annexb","width":64,"height":48,
    "frames":70,"declaredFrames":72,"rateHz":30,"gaps":0},"depth":null},
    "alignment":{"registered":false,"colorIntrinsics":{"width":64,"height":48,"fx":50,"fy":50,"cx":32,
    "cy":24},"colorFromDepth":[1,0,0,0.038,0,1,0,0,0,0,1,0,0,0,0,1],"depthIntrinsics":null,
    "distortion":null},"warnings":[],"errors":[]}
    """
}

/// Pictures to test with.
enum ColorImageOf {
  static func noise(
    width: Int, height: Int, _ generator: inout some RandomNumberGenerator
  ) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for index in image.rgb.indices {
      image.rgb[index] = UInt8.random(in: 0...255, using: &generator)
    }
    return image
  }

  static func png(_ image: inout ColorImage) throws -> [UInt8] {
    var writer = PNGWriter(compression: .fast)
    return try writer.encode(image)
  }
}
