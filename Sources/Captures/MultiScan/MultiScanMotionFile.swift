import Core

/// The samples of one motion file in the file's own units.
struct MultiScanMotionFile: Sendable {
  enum Encoding: Sendable {
    case littleEndian, bigEndian, text
  }

  struct Record: Sendable, Equatable {
    var timestamp: Timestamp
    var x: Double
    var y: Double
    var z: Double
  }

  /// The ASCII header of the file; `nil` when the app was killed before it wrote it.
  struct Header: Sendable, Equatable {
    var encoding: Encoding
    /// The count in the `element` line.
    var declaredRecords: Int?
    /// Offset of the first byte after `end_header` and its line end.
    var dataStart: Int
  }

  var header: Header?
  /// Records with a plausible time.
  var records: [Record] = []
  /// Number of whole records in the file.
  private(set) var recordCount = 0
  /// Number of records left out because their time is far from all others.
  var farOff: Int { recordCount - records.count }
  /// Whether there are bytes after the last whole record.
  var hasPartialRecord = false

  /// Size of a record in the file: int64 nanoseconds and three float64.
  static let recordBytes = 32

  /// Reads a whole file. Without a header, records in `headlessEncoding` start at byte 0. A header
  /// without end has no records.
  ///
  /// Cost: one pass; 32 bytes of memory per record.
  init(_ bytes: RawSpan, headlessEncoding: Encoding) {
    if let header = Header(bytes) {
      self.header = header
      read(bytes.extracting(header.dataStart..<bytes.byteCount), encoding: header.encoding)
    } else if !Header.begins(bytes) {
      read(bytes, encoding: headlessEncoding)
    }
    recordCount = records.count
    let bounds = TimeBounds(records.lazy.map(\.timestamp))
    records.removeAll { !bounds.contains($0.timestamp) }
  }

  private mutating func read(_ data: RawSpan, encoding: Encoding) {
    switch encoding {
    case .text: readText(data)
    case .littleEndian: readRecords(data) { $0.littleEndian(UInt64.self, at: $1) }
    case .bigEndian: readRecords(data) { $0.bigEndian(UInt64.self, at: $1) }
    }
  }

  private mutating func readRecords(_ data: RawSpan, word: (RawSpan, Int) -> UInt64?) {
    let count = data.byteCount / Self.recordBytes
    hasPartialRecord = data.byteCount % Self.recordBytes != 0
    records.reserveCapacity(count)
    for start in stride(from: 0, to: count * Self.recordBytes, by: Self.recordBytes) {
      guard let time = word(data, start), let x = word(data, start + 8),
        let y = word(data, start + 16), let z = word(data, start + 24)
      else { return }
      records.append(
        Record(
          timestamp: Timestamp(nanoseconds: Int64(bitPattern: time)),
          x: Double(bitPattern: x), y: Double(bitPattern: y), z: Double(bitPattern: z)))
    }
  }

  /// Reads four numbers per line. Other lines are not records.
  private mutating func readText(_ data: RawSpan) {
    let text = data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(whereSeparator: \.isWhitespace)
      if fields.isEmpty { continue }
      guard fields.count == 4, let time = Timestamp(decimalNanoseconds: fields[0]),
        let x = Double(fields[1]), let y = Double(fields[2]), let z = Double(fields[3])
      else {
        hasPartialRecord = true
        continue
      }
      records.append(Record(timestamp: time, x: x, y: y, z: z))
    }
  }
}

extension MultiScanMotionFile.Header {
  /// Size limit of headers in bytes; the apps write about 200.
  private static let limit = 65_536

  /// Whether the bytes begin like a header.
  static func begins(_ bytes: RawSpan) -> Bool {
    guard let (line, _) = line(of: bytes, at: 0) else { return false }
    return line == "ply"
  }

  /// `nil` when the bytes do not begin with a header or it has no end.
  init?(_ bytes: RawSpan) {
    let bytes = bytes.extracting(0..<min(bytes.byteCount, Self.limit))
    guard let (first, afterFirst) = Self.line(of: bytes, at: 0), first == "ply" else { return nil }
    self.init(encoding: .littleEndian, declaredRecords: nil, dataStart: 0)
    var offset = afterFirst
    while let (line, next) = Self.line(of: bytes, at: offset) {
      let words = line.split(separator: " ")
      switch words.first {
      case "end_header":
        dataStart = next
        return
      case "format" where words.count > 1:
        encoding = Self.encoding(named: words[1])
      case "element" where words.count > 2:
        declaredRecords = Int(words[2]).flatMap { $0 >= 0 ? $0 : nil }
      default: break
      }
      offset = next
    }
    return nil
  }

  private static func encoding(named name: Substring) -> MultiScanMotionFile.Encoding {
    switch name {
    case "ascii": .text
    case "binary_big_endian": .bigEndian
    default: .littleEndian
    }
  }

  /// The line at `offset` without its end, and the start of the next one; `nil` without a line end.
  private static func line(of bytes: RawSpan, at offset: Int) -> (text: String, next: Int)? {
    var end = offset
    while end < bytes.byteCount, bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 10 {
      end += 1
    }
    guard end < bytes.byteCount, end - offset <= limit else { return nil }
    var text = bytes.extracting(offset..<end).withUnsafeBytes {
      String(decoding: $0, as: UTF8.self)
    }
    while text.last == "\r" || text.last == " " { text.removeLast() }
    return (text, end + 1)
  }
}
