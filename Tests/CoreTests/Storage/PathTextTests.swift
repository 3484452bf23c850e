@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite struct PathTextTests {
  @Test func `every name comes back from its text, byte by byte`() {
    var random = SeededGenerator(seed: 14)
    var names: [[UInt8]] = (1...255).map { [UInt8($0)] }
    // Scalars that stand for bytes are themselves carried as bytes.
    for scalar in [0x10_FF7F, 0x10_FF80, 0x10_FFFF, 0xE9, 0x5BA2] as [UInt32] {
      names.append(Array(String(Unicode.Scalar(scalar) ?? "?").utf8))
    }
    for _ in 0..<2000 {
      names.append(
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
          [UInt8.random(in: 1...255, using: &random), 0xF4, 0x8F, 0xBE, 0xBF, 0x80, 0x61]
            .randomElement(using: &random) ?? 1
        })
    }
    for name in names {
      let text = PathText.text(of: name)
      #expect(PathText.bytes(of: text) == name)
      #expect(String(decoding: Array(text.utf8), as: UTF8.self) == text)
      #expect(!PathText.shown(text).unicodeScalars.contains { $0.value >= 0x10_FF80 })
    }
    #expect(Set(names.map { Array(PathText.text(of: $0).utf8) }).count == Set(names).count)
  }

  @Test func `paths keep their bytes through text, and show them in hex`() {
    let path = FilePath("/data").appending(name: PathText.text(of: [0x63, 0xE9, 0x2E, 0x74]))
    #expect(FilePath(text: path.text) == path)
    #expect(path.shown == "/data/c%E9.t")
    #expect(path.shownName == "c%E9.t")
    #expect(FilePath("/data/caf\u{E9}").shown == "/data/caf\u{E9}")
  }

  @Test func `folders list, open and remove names of any bytes`() throws {
    let folder = try TemporaryFolder()
    let name = PathText.text(of: [0xFF, 0x62])
    let inner = folder.path.appending(name: name)
    try FileSystem.makeFolder(inner)
    try OutputFile.write([1, 2], to: inner.appending(name: name))
    #expect(try FileSystem.names(in: folder.path) == [name])
    let open = try HeldFolder(reading: folder.path)
    let opened = try #require(open.below(name))
    #expect(opened.stamp(of: name)?.bytes == 2)
    #expect(opened.stampedContents(of: name)?.bytes == [1, 2])
    try FileSystem.remove(inner)
    #expect(try FileSystem.names(in: folder.path).isEmpty)
  }
}
