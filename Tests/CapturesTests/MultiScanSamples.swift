@testable import Captures
@testable import Media

/// Small captures written by the tests themselves.
enum MultiScanSamples {
  static let stem = "20210102T030405-0800_test"
  static let nanosecondsPerFrame: Int64 = 16_666_667

  /// A stream entry of the metadata; `more` are further members.
  static func stream(
    _ type: String, _ fileExtension: String, frames: Int, _ more: String = ""
  ) -> String {
    #"{"id":"\#(type)_1","type":"\#(type)","file_extension":"\#(fileExtension)","#
      + #""number_of_frames":\#(frames)\#(more.isEmpty ? "" : ",")\#(more)}"#
  }

  /// Metadata around stream entries; `unit` writes the keys that came after 2020.
  static func metadata(_ streams: [String], unit: String? = "m", scene: String = "{}") -> String {
    let later = unit.map { #""depth_unit":"\#($0)","# } ?? ""
    return "{\(later)\"scene\":\(scene),\"streams\":[\(streams.joined(separator: ","))]}"
  }

  static func lidarStreams(frames: Int, resolution: String = "[192,256]") -> [String] {
    [
      stream("camera_info", "jsonl", frames: frames),
      stream("lidar_sensor", "depth.zlib", frames: frames, #""resolution":\#(resolution)"#),
      stream("confidence_map", "confidence.zlib", frames: frames),
    ]
  }

  /// A line of camera info: frame `k`, moved by `k` centimeters.
  static func line(_ k: Int, nanoseconds: Int64? = nil, meters: Double? = nil) -> String {
    let time = nanoseconds ?? 1_000_000_000 + Int64(k) * nanosecondsPerFrame
    let x = meters ?? Double(k) / 100
    return #"{"timestamp":\#(time),"intrinsics":[200,0,0,0,201,0,100,80,1],"#
      + #""transform":[1,0,0,0,0,1,0,0,0,0,1,0,\#(x),0,0,1],"exposure_duration":8000000}"#
  }

  static func lines(_ count: Int) -> String {
    (0..<count).map { line($0) + "\n" }.joined()
  }

  /// A frame of `pixels` elements that all depend on `k`, two bytes each.
  static func depthFrame(_ k: Int, pixels: Int = 256 * 192) -> [UInt8] {
    let period = (0..<7 * 1024).flatMap { pixel -> [UInt8] in
      // Halves from 1 up: finite, positive, different from frame to frame.
      let pattern = 0x3c00 + UInt16((pixel / 7 + k * 13) % 1024)
      return [UInt8(pattern & 255), UInt8(pattern >> 8)]
    }
    return repeated(period, count: 2 * pixels)
  }

  /// So many bytes, the same period again and again.
  private static func repeated(_ period: [UInt8], count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += period }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  static func depthFrames(_ frames: Range<Int>) -> [UInt8] { frames.flatMap { depthFrame($0) } }

  static func confidenceFrames(_ count: Int, pixels: Int = 256 * 192) -> [UInt8] {
    (0..<count).flatMap { k in
      repeated((0..<3 * 1024).map { UInt8(($0 + k) % 3) }, count: pixels)
    }
  }

  static func deflated(_ bytes: [UInt8], _ format: DeflateFormat = .raw) throws -> [UInt8] {
    try DeflateEncoder.compress(bytes, format: format)
  }

  /// A healthy LiDAR capture without its video.
  static func lidar(frames: Int) throws -> MultiScanFolder {
    let folder = try MultiScanFolder()
    try folder.write("\(stem).json", metadata(lidarStreams(frames: frames)))
    try folder.write("\(stem).jsonl", lines(frames))
    try folder.write("\(stem).depth.zlib", deflated(depthFrames(0..<frames)))
    try folder.write("\(stem).confidence.zlib", deflated(confidenceFrames(frames)))
    return folder
  }

  /// A motion file: header and records of `k`, `k/2`, `-k`.
  static func motion(
    _ kind: String, records: Range<Int>, format: String? = "binary_little_endian",
    declared: Int? = nil, bigEndian: Bool = false
  ) -> [UInt8] {
    let header = format.map { format in
      "ply\nformat \(format) 1.0\nelement \(kind) \(declared ?? records.count)\ncomment\n"
        + "property int64 timestamp\nproperty double x\nproperty double y\nproperty double z\n"
        + "end_header\n"
    }
    var bytes = Array((header ?? "").utf8)
    for k in records {
      let words = [
        UInt64(5_000_000_000 + k * 10_000_000), Double(k).bitPattern, (Double(k) / 2).bitPattern,
        (-Double(k)).bitPattern,
      ]
      for word in words {
        let shifts = stride(from: 0, to: 64, by: 8)
        let ordered = bigEndian ? Array(shifts.reversed()) : Array(shifts)
        bytes += ordered.map { UInt8(truncatingIfNeeded: word >> $0) }
      }
    }
    return bytes
  }

  static let motionKinds = ["rot", "acce", "mag", "atti", "grav"]

  /// Motion files only, as a killed single-camera app without video leaves them, but with headers.
  static func motionOnly(records: Range<Int> = 0..<10) throws -> MultiScanFolder {
    let folder = try MultiScanFolder()
    for kind in motionKinds {
      try folder.write("\(stem).\(kind)", motion(kind, records: records))
    }
    return folder
  }
}

extension Capture {
  /// Summed count of a code; of one subject if given.
  func total(_ code: WarningCode, _ subject: String? = nil) -> Int {
    warnings.filter { $0.code == code && (subject == nil || $0.subject == subject) }
      .reduce(0) { $0 + $1.count }
  }

  /// Codes other than those about the video and metadata that small test captures leave out.
  func totals(except left: Set<WarningCode> = []) -> [WarningCode: Int] {
    var counts: [WarningCode: Int] = [:]
    for warning in warnings where !left.contains(warning.code) {
      counts[warning.code, default: 0] += warning.count
    }
    return counts
  }
}
