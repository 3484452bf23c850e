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
