/// Builds little-endian bytes of MCAP records.
struct RecordBytes {
  private(set) var bytes: [UInt8] = []

  init() {}

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var count: Int { bytes.count }

  mutating func integer(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func raw(_ more: [UInt8]) { bytes += more }

  /// Appends the byte length (u32) and UTF-8.
  mutating func text(_ text: String) { sized(Array(text.utf8)) }

  /// Appends the byte length (u32) and the bytes: texts, and arrays and maps of whole entries.
  mutating func sized(_ content: [UInt8]) {
    integer(UInt32(clamping: content.count))
    raw(content)
  }

  /// Appends a map of texts, in the given order.
  mutating func map(_ entries: [(key: String, value: String)]) {
    var content = RecordBytes()
    for entry in entries {
      content.text(entry.key)
      content.text(entry.value)
    }
    sized(content.bytes)
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// A whole record: opcode, u64 length, content.
  static func record(_ code: MCAPRecord, _ content: RecordBytes) -> [UInt8] {
    head(code, contentBytes: content.count) + content.bytes
  }

  /// The nine bytes before a record's content.
  static func head(_ code: MCAPRecord, contentBytes: Int) -> [UInt8] {
    var head = RecordBytes()
    head.integer(code.rawValue)
    head.integer(UInt64(contentBytes))
    return head.bytes
  }
}

/// Opcodes of records.
enum MCAPRecord: UInt8 {
  case header = 0x01
  case footer = 0x02
  case schema = 0x03
  case channel = 0x04
  case message = 0x05
  case chunk = 0x06
  case messageIndex = 0x07
  case chunkIndex = 0x08
  case statistics = 0x0B
  case metadata = 0x0C
  case metadataIndex = 0x0D
  case summaryOffset = 0x0E
  case dataEnd = 0x0F
}
