@testable import Media
import Testing

@testable import Stages

@Suite("MCAP files")
struct MCAPWriterTests {
  private static let a = MCAPWriter.Channel(
    topic: "/a", schema: .init(name: "p/msg/A", text: "int32 x\n"))
  private static let b = MCAPWriter.Channel(
    topic: "/b", schema: .init(name: "p/msg/A", text: "int32 x\n"), qualityOfService: "q")

  private final class File {
    var bytes: [UInt8] = []
  }

  private static func file(
    _ compression: MCAPCompression = .none, _ body: (inout MCAPWriter) throws -> Void
  ) throws -> (bytes: [UInt8], statistics: MCAPWriter.Statistics) {
    let file = File()
    var writer = try MCAPWriter(library: "test", compression: compression) { file.bytes += $0 }
    try body(&writer)
    let statistics = try writer.finish()
    return (file.bytes, statistics)
  }

  // What the layout's description says, written down once more.

  private func u(_ value: UInt64, _ count: Int = 8) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  private func text(_ text: String) -> [UInt8] {
    u(UInt64(text.utf8.count), 4) + Array(text.utf8)
  }

  private func record(_ code: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap(\.self)
    return [code] + u(UInt64(content.count)) + content
  }

  private func channel(_ id: UInt64, _ topic: String, _ quality: String) -> [UInt8] {
    let map = text("offered_qos_profiles") + text(quality)
    return record(
      4, u(id, 2), u(1, 2), text(topic), text("cdr"), u(UInt64(map.count), 4), map)
  }

  private func message(
    _ channel: UInt64, _ sequence: UInt64, _ time: UInt64, _ data: [UInt8]
  ) -> [UInt8] {
    record(5, u(channel, 2), u(sequence, 4), u(time), u(time), data)
  }

  @Test("A small bag, byte by byte")
  func snapshot() throws {
    let (bytes, statistics) = try Self.file { writer in
      try writer.add(metadata: "m", [("k", "v")])
      try writer.write(to: Self.a, time: 5, head: [0, 1, 0, 0], payload: [9])
      try writer.write(to: Self.b, time: 6, head: [0, 1, 0, 0])
      try writer.write(to: Self.a, time: 7, head: [0, 1, 0, 0])
    }
    let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]
    let data: [UInt8] = [0, 1, 0, 0]
    let schema = record(3, u(1, 2), text("p/msg/A"), text("ros2msg"), text("int32 x\n"))
    let first = message(1, 0, 5, [0, 1, 0, 0, 9])
    let second = message(2, 0, 6, data)
    let third = message(1, 1, 7, data)
    let (a, b) = (channel(1, "/a", ""), channel(2, "/b", "q"))
    let records = [schema, a, first, b, second, third].flatMap(\.self)
    let size = u(UInt64(records.count))
    let offsetOfFirst = UInt64(schema.count + a.count)
    let offsetOfSecond = offsetOfFirst + UInt64(first.count + b.count)
    let offsetOfThird = offsetOfSecond + UInt64(second.count)
    var sum = CRC32()
    sum.update(records)
    let chunk = record(6, u(5), u(7), size, u(UInt64(sum.value), 4), text(""), size, records)
    let indexA = record(7, u(1, 2), u(32, 4), u(5), u(offsetOfFirst), u(7), u(offsetOfThird))
    let indexB = record(7, u(2, 2), u(16, 4), u(6), u(offsetOfSecond))
    let metadata = record(0x0C, text("m"), u(10, 4), text("k"), text("v"))
    let head = [magic, record(1, text("ros2"), text("test"))].flatMap(\.self)
    let dataEnd = record(0x0F, u(0, 4))
    let before = [head, metadata, chunk, indexA, indexB, dataEnd].flatMap(\.self)
    let start = UInt64(before.count)
    let chunkStart = UInt64(head.count + metadata.count)
    let indexStart = chunkStart + UInt64(chunk.count)
    let counts = record(
      0x0B, u(3), u(1, 2), u(2, 4), u(0, 4), u(1, 4), u(1, 4), u(5), u(7), u(20, 4), u(1, 2), u(2),
      u(2, 2), u(1))
    let chunkIndex = record(
      8, u(5), u(7), u(chunkStart), u(UInt64(chunk.count)), u(20, 4), u(1, 2), u(indexStart),
      u(2, 2), u(indexStart + UInt64(indexA.count)), u(UInt64(indexA.count + indexB.count)),
      text(""), size, size)
    let metadataIndex = record(
      0x0D, u(UInt64(head.count)), u(UInt64(metadata.count)), text("m"))
    var summary: [UInt8] = []
    var groups: [UInt8] = []
    let kinds: [(UInt8, [UInt8])] = [
      (3, schema), (4, [a, b].flatMap(\.self)), (0x0B, counts), (8, chunkIndex),
      (0x0D, metadataIndex),
    ]
    for (code, group) in kinds {
      groups += record(0x0E, [code], u(start + UInt64(summary.count)), u(UInt64(group.count)))
      summary += group
    }
    let offsetsStart = start + UInt64(summary.count)
    let footer = [[2], u(20), u(start), u(offsetsStart)].flatMap(\.self)
    let covered = [summary, groups, footer].flatMap(\.self)
    var end = CRC32()
    end.update(covered)
    let expected = [before, covered, u(UInt64(end.value), 4), magic].flatMap(\.self)
    #expect(bytes == expected)
    #expect(statistics.messages == 3)
    #expect(statistics.firstTime == 5 && statistics.lastTime == 7)
    #expect(statistics.channels.map(\.messages) == [2, 1])
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
    let (bytes, statistics) = try Self.file { _ in }
    #expect(ParsedMCAP(bytes).records.map(\.code) == [1, 0x0F, 0x0B, 0x0E, 2])
    #expect(statistics.messages == 0)
  }
}
