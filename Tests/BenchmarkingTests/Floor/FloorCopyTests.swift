@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Benchmarking

@Suite struct FloorCopyTests {
  @Test("The copy has the same files with the same bytes, and counts pictures by their heads")
  func copy() throws {
    let folder = try TemporaryFolder()
    let source = folder.path.appending("source")
    try FileSystem.makeFolder(source.appending("deep"))
    let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
    let picture = head + [0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0]
    // Longer than one piece, and exactly one.
    let files: [(String, [UInt8])] = [
      ("000000.png", picture), ("deep/000001.png", picture), ("empty", []), ("text", [1, 2, 3]),
      ("long", [UInt8](repeating: 7, count: (8 << 20) + 5)),
      ("piece", [UInt8](repeating: 9, count: 8 << 20)), ("cut.png", Array(head[..<10])),
    ]
    for (name, bytes) in files { try OutputFile.write(bytes, to: source.pushing(FilePath(name))) }
    let target = folder.path.appending("target")
    let sample = try FloorCopy.measure(source, to: target)
    #expect(sample.files == files.count)
    #expect(sample.bytes == files.map { Int64($0.1.count) }.reduce(0, +))
    #expect(sample.pictures == 2)
    #expect(sample.pixels == 30)
    for (name, bytes) in files {
      let copied = try MappedFile(target.pushing(FilePath(name))).withBytes {
        $0.withUnsafeBytes { Array($0) }
      }
      #expect(copied == bytes, "\(name)")
    }
    // Into a folder that has them already nothing is written.
    let error = try #require(throws: FileError.self) {
      try FloorCopy.measure(source, to: target)
    }
    #expect(error.operation == "create")
  }

  @Test("Half of what is available is touched at most")
  func touchable() {
    let info = "MemTotal: 9 kB\nMemAvailable:    2000 kB\nBuffers: 1 kB\n"
    #expect(HostMemory.touchable(wanted: 500_000, memoryInfo: info) == 500_000)
    #expect(HostMemory.touchable(wanted: .max, memoryInfo: info) == 1_024_000)
    #expect(HostMemory.touchable(wanted: -1, memoryInfo: info) == 0)
    #expect(HostMemory.touchable(wanted: 5, memoryInfo: "MemTotal: 9 kB\n") == 0)
    #expect(HostMemory.touchable(wanted: 5, memoryInfo: "MemAvailable: much kB\n") == 0)
    #expect(HostMemory.touch(upTo: 1 << 20) <= 1 << 20)
  }
}
