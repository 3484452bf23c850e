import Testing

@testable import Core
@testable import Media
@testable import Processing
@testable import Stages

@Suite("MCAP files")
struct MCAPWriterTests {
  private static let a = MCAPWriter.Channel(
    topic: "/a", type: "p/msg/A", schema: "int32 x\n")
  private static let b = MCAPWriter.Channel(
    topic: "/b", type: "p/msg/A", schema: "int32 x\n", qualityOfService: "q")

  private final class File {
    var bytes: [UInt8] = []
  }

  private static func file(
    _ compression: MCAPCompression = .none, _ body: (inout MCAPWriter) throws -> Void
  ) throws -> (bytes: [UInt8], summary: MCAPSummary) {
    let file = File()
    var writer = try MCAPWriter(library: "test", compression: compression) { file.bytes += $0 }
    try body(&writer)
    let summary = try writer.finish()
    return (file.bytes, summary)
  }

  @Test("Chunks have 1 to 4 MiB; a larger message is alone; every message is found by its index")
  func chunks() throws {
    // In KiB: small ones, large ones, and one above the limit.
    let sizes = [300, 900, 200, 200, 5000, 10, 3900, 2000, 2500, 100, 1]
    let (bytes, _) = try Self.file { writer in
      for (number, size) in sizes.enumerated() {
        let payload = [UInt8](repeating: UInt8(number), count: size << 10)
        try writer.write(
          to: number % 3 == 0 ? Self.b : Self.a, time: UInt64(number), head: [0, 1, 0, 0],
          payload: payload)
      }
    }
    let file = ParsedMCAP(bytes)
    let chunks = file.chunks
    #expect(file.messages.map { $0.data.count - 4 } == sizes.map { $0 << 10 })
    #expect(file.messages.map(\.time) == (0..<11).map { UInt64($0) })
    for (position, chunk) in chunks.enumerated() {
      let isLast = position == chunks.count - 1
      let large = chunk.messages.filter { $0.data.count > 4 << 20 }
      if !large.isEmpty {
        #expect(chunk.messages.count == 1)
      } else {
        #expect(chunk.size <= 4 << 20)
        // Below only at the end, or where the next message would not fit.
        let next = isLast ? 0 : chunks[position + 1].messages[0].data.count
        #expect(isLast || chunk.size >= 1 << 20 || chunk.size + next > 4 << 20)
      }
    }
    #expect(chunks.contains { $0.messages.contains { $0.data.count > 4 << 20 } })
    // Indexes: by the offsets of the chunk's records.
    let indexes = file.records.filter { $0.code == 7 }
    var indexed = 0
    var position = 0
    for chunk in chunks {
      for channel in Set(chunk.messages.map(\.channel)).sorted() {
        let content = indexes[position].content
        position += 1
        #expect(Int(content.integer(at: 0, 2)) == channel)
        for entry in stride(from: 6, to: content.count, by: 16) {
          let offset = Int(content.integer(at: entry + 8, 8))
          let record = chunk.records.first { $0.offset == offset }
          #expect(record?.code == 5)
          #expect(record?.content.integer(at: 6, 8) == content.integer(at: entry, 8))
          indexed += 1
        }
      }
    }
    #expect(indexed == sizes.count && position == indexes.count)
  }

  @Test(
    "Compressed chunks are frames of their kind and smaller",
    arguments: [MCAPCompression.lz4, .zstd])
  func compression(_ kind: MCAPCompression) throws {
    let payload = [UInt8](repeating: 7, count: 2 << 20)
    let (bytes, _) = try Self.file(kind) { writer in
      try writer.write(to: Self.a, time: 1, head: [0, 1, 0, 0], payload: payload)
    }
    #expect(bytes.count < 100_000)
    let chunk = try #require(ParsedMCAP(bytes).records.first { $0.code == 6 })
    let name = Int(chunk.content.integer(at: 28, 4))
    #expect(String(decoding: chunk.content[32..<32 + name], as: UTF8.self) == kind.rawValue)
    let magic = chunk.content.integer(at: 32 + name + 8, 4)
    #expect(magic == (kind == .lz4 ? 0x184D_2204 : 0xFD2F_B528))
  }

  @Test("A file without messages is whole: header, end, summary")
  func empty() throws {
    let (bytes, summary) = try Self.file { _ in }
    #expect(ParsedMCAP(bytes).records.map(\.code) == [1, 0x0F, 0x0B, 0x0E, 2])
    #expect(summary.messages == 0)
  }
}

@Suite("Messages as CDR")
struct CDRTests {
  private static let head: [UInt8] = [0, 1, 0, 0]

  private static func numbers(_ bytes: [UInt8], from offset: Int, _ count: Int) -> [Double] {
    (0..<count).map { Double(bitPattern: bytes.integer(at: offset + 8 * $0, 8)) }
  }

  @Test("A primitive is aligned to its size, counted from behind the head; texts end with NUL")
  func alignment() {
    var cdr = CDRWriter()
    cdr.integer(UInt8(7))
    cdr.integer(UInt16(0x0102))
    cdr.integer(UInt8(8))
    cdr.integer(Int32(-2))
    cdr.text("ab")
    cdr.number(1)
    cdr.flag(true)
    let expected: [[UInt8]] = [
      Self.head, [7, 0, 2, 1, 8, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF], [3, 0, 0, 0, 0x61, 0x62, 0],
      // 19 bytes so far: five to the next eighth.
      [0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0xF0, 0x3F], [1],
    ]
    #expect(cdr.bytes == expected.flatMap(\.self))
  }

  @Test("A CameraInfo has K, R and P row by row, and five zeros for a lens that is not known")
  func cameraInfo() {
    let camera = PinholeCamera(width: 4, height: 3, fx: 10, fy: 11, cx: 1.5, cy: 1)
    let time = Timestamp(nanoseconds: 0)
    let plain = ROSMessage.cameraInfo(time, frame: "cam0", camera, nil)
    // Behind the head: 8 stamp, 4 + 5 frame, 3 padding, 8 size, 4 + 10 model, 2 padding, 4 count, 4 padding.
    #expect(plain[4 + 44] == 5)
    let first = 4 + 48
    let expected: [[Double]] = [
      [0, 0, 0, 0, 0], [10, 0, 1.5, 0, 11, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1],
      [10, 0, 1.5, 0, 0, 11, 1, 0, 0, 0, 1, 0],
    ]
    #expect(
      Self.numbers(plain, from: first, 35) == expected.flatMap(\.self))
    let lens = LensDistortion(openCVOrder: [1, 2, 3, 4, 5])
    let bent = ROSMessage.cameraInfo(time, frame: "cam0", camera, lens)
    #expect(Self.numbers(bent, from: first, 5) == [1, 2, 3, 4, 5])
    #expect(String(decoding: plain, as: UTF8.self).contains("plumb_bob"))
    let rational = LensDistortion(openCVOrder: [1, 2, 3, 4, 5, 6, 7, 8])
    let fisheye = ROSMessage.cameraInfo(time, frame: "cam0", camera, rational)
    #expect(String(decoding: fisheye, as: UTF8.self).contains("rational_polynomial"))
  }
}

@Suite("Definitions of message types")
struct ROSDefinitionTests {
  @Test("A definition is followed by those of the types that it uses, each once")
  func nested() {
    let line = String(repeating: "=", count: 80)
    #expect(MCAPWriter.Channel.pose.type == "geometry_msgs/msg/PoseStamped")
    #expect(
      MCAPWriter.Channel.pose.schema == """
        std_msgs/Header header
        geometry_msgs/Pose pose
        \(line)
        MSG: std_msgs/Header
        builtin_interfaces/Time stamp
        string frame_id
        \(line)
        MSG: geometry_msgs/Pose
        geometry_msgs/Point position
        geometry_msgs/Quaternion orientation
        \(line)
        MSG: builtin_interfaces/Time
        int32 sec
        uint32 nanosec
        \(line)
        MSG: geometry_msgs/Point
        float64 x
        float64 y
        float64 z
        \(line)
        MSG: geometry_msgs/Quaternion
        float64 x
        float64 y
        float64 z
        float64 w

        """)
  }

  @Test(
    "No definition uses a type that is not defined", arguments: ROSMessage.definitions.keys.sorted()
  )
  func complete(_ type: String) {
    let text = ROSMessage.schema(of: type)
    let defined = Set(text.matches(of: #/MSG: (\S+)/#).map { String($0.1) })
    let used = Set(
      text.matches(of: #/(?m)^([a-z0-9_]+/[A-Za-z0-9]+)(?:\[\d*\])? /#).map { String($0.1) })
    #expect(used == defined)
    #expect(text.matches(of: #/MSG: /#).count == defined.count)
    #expect(!text.contains("/msg/") && !text.contains("\n\n"))
  }
}

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
