import FoundationEssentials
import Core
import SystemPackage

/// The lines of the camera info file; line k describes frame k.
struct MultiScanCameraInfo: Sendable {
  /// Lines in file order without blank ones; `nil` for a line that is not a JSON object.
  var lines: [Line?] = []

  /// The line of one frame. Values that are missing or of unexpected type are `nil`.
  struct Line: Sendable {
    var timestamp: Timestamp?
    var intrinsics: Intrinsics?
    /// Sixteen numbers, column-major, camera to world, with the app's axes.
    var transform: [Double]?
    /// `nil` where the app wrote 0, which means unknown.
    var exposureSeconds: Double?
    /// Whether the line has a `transform` of any type.
    var hasTransform = false
    /// Whether the line has keys or texts that only the Android app writes.
    var isAndroid = false
  }

  /// Reads all lines, which end with `\n` or `\r\n`.
  ///
  /// Cost: one JSON document per line, about 30 µs, spread over the cores.
  init(_ file: MappedFile) throws {
    try InputLimits.bytesOfJSON.check(file.count, of: file.path)
    if let text = TextBytes.utf8(ifUTF16: file) {
      lines = try Self.lines(at: Self.lineRanges(text.span.bytes), of: file.path) {
        range, decoder in
        Self.line(text.span.bytes.extracting(range), decoder)
      }
    } else {
      lines = try Self.lines(at: file.withBytes { Self.lineRanges($0) }, of: file.path) {
        range, decoder in
        file.withBytes(in: range) { Self.line($0, decoder) }
      }
    }
  }

  private static func lines(
    at ranges: [Range<Int>], of file: FilePath,
    decode: @escaping @Sendable (Range<Int>, JSONDecoder) -> Line?
  ) throws -> [Line?] {
    try InputLimits.framesOfCapture.check(ranges.count, of: file)
    let blocks = (ranges.count + Self.blockLines - 1) / Self.blockLines
    return try concurrentMap(count: blocks) { block in
      let decoder = JSONDecoder()
      let last = min((block + 1) * Self.blockLines, ranges.count)
      return ranges[(block * Self.blockLines)..<last].map { decode($0, decoder) }
    }.flatMap(\.self)
  }

  /// Clears lines whose time is far from that of all others among the first `count`, which describe
  /// frames. Their positions remain.
  mutating func dropFarOffLines(ofFirst count: Int) {
    let described = lines.prefix(count)
    let bounds = TimeBounds(described.lazy.compactMap { $0?.timestamp })
    for (index, line) in described.enumerated() {
      if let time = line?.timestamp, !bounds.contains(time) { lines[index] = nil }
    }
  }

  /// The first line that is not blank, if it is one of camera info.
  static func firstLine(_ bytes: RawSpan) -> Line? {
    lineRanges(bytes).first.flatMap { line(bytes.extracting($0), JSONDecoder()) }
  }

  /// Lines that one worker decodes at a time: some milliseconds of work.
  private static let blockLines = 256

  private static func line(_ bytes: RawSpan, _ decoder: JSONDecoder) -> Line? {
    guard bytes.byteCount <= InputLimits.bytesOfLine.most else { return nil }
    return bytes.withUnsafeBytes { LooseJSON.value(Line.self, in: $0, decoder) }
  }

  /// The ranges of the lines, without their ends; blank ones are left out.
  private static func lineRanges(_ bytes: RawSpan) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    var isBlank = true
    for offset in 0...bytes.byteCount {
      let byte =
        offset < bytes.byteCount ? bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 10
      switch byte {
      case 10:
        if !isBlank { ranges.append(start..<offset) }
        start = offset + 1
        isBlank = true
      case 9, 13, 32: continue
      default: isBlank = false
      }
    }
    return ranges
  }
}

extension MultiScanCameraInfo.Line: Decodable {

  init(from decoder: any Decoder) throws {
    let keys = try decoder.members
    timestamp = (keys.value("timestamp") as Int64?).map(Timestamp.init(nanoseconds:))
    intrinsics = keys.value("intrinsics").flatMap(Intrinsics.init(ofMatrix:))
    hasTransform = keys.contains("transform")
    transform = (keys.value("transform") as [Double]?).flatMap { $0.count == 16 ? $0 : nil }
    if let nanoseconds: Int64 = keys.value("exposure_duration"), nanoseconds > 0 {
      exposureSeconds = Double(nanoseconds) / 1e9
    }
    isAndroid =
      keys.contains("rotationQuaternion") || keys.value("euler_angles") == "null"
  }
}
