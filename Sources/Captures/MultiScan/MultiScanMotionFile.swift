import Core
import FoundationEssentials
import Media
import SystemPackage

/// The samples of one motion file in the file's own units.
struct MultiScanMotionFile {
  enum Encoding {
    case littleEndian, bigEndian, text
  }

  /// The ASCII header of the file; `nil` when the app was killed before it wrote it.
  struct Header: Equatable {
    var encoding: Encoding
    /// The count in the `element` line.
    var declaredRecords: Int?
    /// Offset of the first byte after `end_header` and its line end.
    var dataStart: Int
    /// The numbers of a record, in the order of the file.
    private(set) var properties: [Property] = []
    /// What the header states that is not understood; `nil` if records can be read.
    private(set) var obstacle: String?
  }

  /// A number of each record.
  struct Property: Equatable {
    var name: String
    var type: NumberType
  }

  /// The types of PLY by their sizes, with the two that the apps add.
  enum NumberType: String {
    case int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64

    private static let olderNames: [Substring: NumberType] = [
      "char": .int8, "uchar": .uint8, "short": .int16, "ushort": .uint16, "int": .int32,
      "uint": .uint32, "float": .float32, "double": .float64,
    ]

    init?(named name: Substring) {
      guard let type = Self.olderNames[name] ?? NumberType(rawValue: String(name)) else {
        return nil
      }
      self = type
    }

    var bytes: Int { (Int(rawValue.drop { !$0.isNumber }) ?? 0) / 8 }

    /// The value of a number that is stored in these bits.
    func value(_ bits: UInt64) -> Double {
      switch self {
      case .int8: Double(Int8(truncatingIfNeeded: bits))
      case .int16: Double(Int16(truncatingIfNeeded: bits))
      case .int32: Double(Int32(truncatingIfNeeded: bits))
      case .int64: Double(Int64(bitPattern: bits))
      case .uint8, .uint16, .uint32, .uint64: Double(bits)
      case .float32: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
      case .float64: Double(bitPattern: bits)
      }
    }
  }

  var header: Header?
  /// Records with a plausible time; their sensor is not yet known.
  var records: [IMUSample] = []
  /// Number of whole records in the file.
  private(set) var recordCount = 0
  /// Number of records left out because their time is far from all others.
  var farOff: Int { recordCount - records.count }
  /// Whether there are bytes after the last whole record.
  var hasPartialRecord = false

  /// Reads a whole file. Without a header, records of the apps in `headlessEncoding` start at byte 0. A header
  /// without end has no records.
  ///
  /// Cost: one pass; 32 bytes of memory per record.
  init(_ bytes: RawSpan, headlessEncoding: Encoding) {
    if let header = Header(bytes) {
      self.header = header
      read(bytes.extracting(header.dataStart..<bytes.byteCount), header)
    } else if !Header.begins(bytes) {
      read(bytes, Header(encoding: headlessEncoding, dataStart: 0))
    }
    recordCount = records.count
    let bounds = TimeBounds(records.lazy.map(\.timestamp))
    records.removeAll { !bounds.contains($0.timestamp) }
  }

  private mutating func read(_ data: RawSpan, _ header: Header) {
    guard let columns = header.columns else { return }
    if header.encoding == .text { return readText(data, columns, count: header.properties.count) }
    let starts = header.properties.indices.map { index in
      header.properties[..<index].reduce(0) { $0 + $1.type.bytes }
    }
    let size = header.recordBytes
    func bits(_ column: Int, _ record: Int) -> UInt64 {
      let start = record + starts[column]
      let count = header.properties[column].type.bytes
      return (0..<count).reduce(0) { bits, index in
        let place = header.encoding == .bigEndian ? index : count - 1 - index
        return bits << 8 | UInt64(data.unsafeLoad(fromByteOffset: start + place, as: UInt8.self))
      }
    }
    func value(_ column: Int, _ record: Int) -> Double {
      header.properties[column].type.value(bits(column, record))
    }
    hasPartialRecord = data.byteCount % size != 0
    records.reserveCapacity(data.byteCount / size)
    for record in stride(from: 0, through: data.byteCount - size, by: size) {
      records.append(
        IMUSample(
          timestamp: Timestamp(nanoseconds: Int64(bitPattern: bits(columns.time, record))),
          sensor: 0, x: value(columns.x, record), y: value(columns.y, record),
          z: value(columns.z, record)))
    }
  }

  /// Reads a record per line. Other lines are not records.
  private mutating func readText(_ data: RawSpan, _ columns: Header.Columns, count: Int) {
    let text = data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(whereSeparator: \.isWhitespace)
      if fields.isEmpty { continue }
      guard fields.count == count, let time = Timestamp(decimalNanoseconds: fields[columns.time]),
        let x = Double(fields[columns.x]), let y = Double(fields[columns.y]),
        let z = Double(fields[columns.z])
      else {
        hasPartialRecord = true
        continue
      }
      records.append(IMUSample(timestamp: time, sensor: 0, x: x, y: y, z: z))
    }
  }
}

extension MultiScanMotionFile.Header {
  /// Places of the numbers of a sample among the properties.
  typealias Columns = (time: Int, x: Int, y: Int, z: Int)

  /// Size limit of headers in bytes; the apps write about 200.
  private static let limit = 65_536
  /// What the apps write.
  private static let usual = ["timestamp", "x", "y", "z"].map {
    MultiScanMotionFile.Property(name: $0, type: $0 == "timestamp" ? .int64 : .float64)
  }

  /// The header of records as the apps write them.
  init(encoding: MultiScanMotionFile.Encoding, dataStart: Int) {
    (self.encoding, self.dataStart, properties) = (encoding, dataStart, Self.usual)
  }

  /// Size of a binary record.
  var recordBytes: Int { properties.reduce(0) { $0 + $1.type.bytes } }

  /// The columns of a time, the first of four where none is named so, and of three values: those named x, y, z or roll,
  /// pitch, yaw, else the three that there are. `nil` if the properties have no such meaning.
  var columns: Columns? {
    let names = properties.map { $0.name.lowercased() }
    guard let time = names.firstIndex(of: "timestamp") ?? (names.count == 4 ? 0 : nil),
      encoding == .text || properties[time].type == .int64 || properties[time].type == .uint64
    else { return nil }
    let others = names.indices.filter { $0 != time }
    let named = [["x", "y", "z"], ["roll", "pitch", "yaw"]].lazy.map {
      $0.compactMap(names.firstIndex)
    }
    .first { $0.count == 3 }
    guard let values = named ?? (others.count == 3 ? others : nil) else { return nil }
    return (time, values[0], values[1], values[2])
  }

  /// Whether the bytes begin like a header.
  static func begins(_ bytes: RawSpan) -> Bool {
    guard let (line, _) = line(of: bytes, at: 0) else { return false }
    return line == "ply"
  }

  /// `nil` when the bytes do not begin with a header or it has no end.
  init?(_ bytes: RawSpan) {
    let bytes = bytes.extracting(0..<min(bytes.byteCount, Self.limit))
    guard let (first, afterFirst) = Self.line(of: bytes, at: 0), first == "ply" else { return nil }
    self.init(encoding: .littleEndian, dataStart: 0)
    properties = []
    var elements = 0
    var offset = afterFirst
    while let (line, next) = Self.line(of: bytes, at: offset) {
      let words = line.split(separator: " ")
      switch words.first {
      case "end_header":
        dataStart = next
        if properties.isEmpty { properties = Self.usual }
        if obstacle == nil, columns == nil {
          obstacle =
            "its properties are \(properties.map { "\($0.type) \($0.name)" }.joined(separator: ", ")): no 64-bit "
            + "timestamp and x, y, z"
        }
        return
      case "format" where words.count > 1:
        encoding = Self.encoding(named: words[1])
      case "element" where words.count > 2:
        declaredRecords = Int(words[2]).flatMap { $0 >= 0 ? $0 : nil }
        elements += 1
        if elements > 1 { obstacle = "it has a second element, \(words[1]), which no app writes" }
      case "property":
        if words.count == 3, let type = MultiScanMotionFile.NumberType(named: words[1]) {
          properties.append(.init(name: String(words[2]), type: type))
        } else {
          obstacle = "its header has the line \"\(line)\", which is not understood"
        }
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
