/// The records of an MCAP file, for tests: offsets, and the parts of chunks.
struct ParsedMCAP {
  struct Record {
    var code: UInt8
    var offset: Int
    var content: [UInt8]
  }

  struct Message: Hashable {
    var channel: Int
    var sequence: Int
    var time: UInt64
    var data: [UInt8]
  }

  struct Chunk {
    var offset: Int
    /// Size of the record with its head.
    var bytes: Int
    var records: [Record]
    var size: Int
    var checksum: UInt32
    var compression: String

    var messages: [Message] {
      records.filter { $0.code == 5 }.map { record in
        Message(
          channel: Int(record.content.integer(at: 0, 2)),
          sequence: Int(record.content.integer(at: 2, 4)), time: record.content.integer(at: 6, 8),
          data: Array(record.content[22...]))
      }
    }
  }

  let records: [Record]

  init(_ file: [UInt8]) {
    records = Self.records(of: Array(file[8..<file.count - 8]), from: 8)
  }

  /// Uncompressed chunks.
  var chunks: [Chunk] {
    records.filter { $0.code == 6 }.map { record in
      let content = record.content
      let name = Int(content.integer(at: 28, 4))
      let start = 32 + name + 8
      return Chunk(
        offset: record.offset, bytes: content.count + 9,
        records: Self.records(of: Array(content[start...]), from: 0),
        size: Int(content.integer(at: 16, 8)), checksum: UInt32(content.integer(at: 24, 4)),
        compression: String(decoding: content[32..<32 + name], as: UTF8.self))
    }
  }

  var messages: [Message] { chunks.flatMap(\.messages) }

  /// Topics by channel.
  var topics: [Int: String] {
    var topics: [Int: String] = [:]
    for record in chunks.flatMap(\.records) where record.code == 4 {
      let length = Int(record.content.integer(at: 4, 4))
      topics[Int(record.content.integer(at: 0, 2))] = String(
        decoding: record.content[8..<8 + length], as: UTF8.self)
    }
    return topics
  }

  /// Times by topic.
  var times: [String: [UInt64]] {
    let topics = topics
    return Dictionary(grouping: messages) { topics[$0.channel] ?? "" }
      .mapValues { $0.map(\.time) }
  }

  private static func records(of bytes: [UInt8], from start: Int) -> [Record] {
    var records: [Record] = []
    var offset = 0
    while offset + 9 <= bytes.count {
      let length = Int(bytes.integer(at: offset + 1, 8))
      let content = Array(bytes[offset + 9..<offset + 9 + length])
      records.append(Record(code: bytes[offset], offset: start + offset, content: content))
      offset += 9 + length
    }
    return records
  }
}

extension [UInt8] {
  /// Little-endian.
  func integer(at offset: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for byte in self[offset..<offset + count].reversed() { value = value << 8 | UInt64(byte) }
    return value
  }
}

/// Fields of a CDR message, read in their order.
struct CDRReader {
  private let bytes: [UInt8]
  private var offset = 4

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// u32 or int32 without sign.
  mutating func integer() -> Int { Int(next(4)) }

  mutating func number() -> Double { Double(bitPattern: next(8)) }

  mutating func text() -> String {
    let count = integer()
    defer { offset += count }
    return String(decoding: bytes[offset..<offset + count - 1], as: UTF8.self)
  }

  private mutating func next(_ size: Int) -> UInt64 {
    offset += (size - (offset - 4) % size) % size
    defer { offset += size }
    return bytes.integer(at: offset, size)
  }
}
