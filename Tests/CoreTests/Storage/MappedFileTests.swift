import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Mapped files")
struct MappedFileTests {
  @Test(
    "All bytes are there, ranges are cut to the file", arguments: [0, 1, 4095, 4096, 4097, 200_000])
  func bytes(count: Int) throws {
    let folder = try TemporaryFolder()
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let file = try MappedFile(try folder.write(content, to: "f"))
    #expect(file.count == count)
    #expect(file.identity.bytes == Int64(count))
    let all = file.withBytes { $0.withUnsafeBytes { Array($0) } }
    #expect(all == content)
    for range in [
      0..<count, 1..<7, -5..<3, count..<(count + 9), (count + 5)..<(count + 9), -9..<(-2),
    ] {
      let cut = range.clamped(to: 0..<count)
      let part = file.withBytes(in: range) { $0.withUnsafeBytes { Array($0) } }
      #expect(part == Array(content[cut]))
    }
    file.willReadInOrder()
    for bytes in [1, 1 << 24, .max, .max] { file.didRead(bytes: bytes) }
    #expect(file.withBytes { $0.withUnsafeBytes { Array($0) } } == content)
  }

  @Test("A file that is replaced while it is mapped keeps its bytes and another identity")
  func replaced() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([1, 2, 3], to: "f")
    let file = try MappedFile(path)
    try HeldFolder.following(folder.path).replace("f", with: [9])
    #expect(file.withBytes { $0.withUnsafeBytes { Array($0) } } == [1, 2, 3])
    #expect(try FileIdentity(of: path) != file.identity)
  }

  @Test("What is no regular file is refused at once, with the path")
  func refused() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path.appending("pipe")
    #expect(mkfifo(pipe.string, 0o600) == 0)
    try folder.link("loop", to: "loop")
    for path in [folder.path, pipe, FilePath("/dev/null"), folder.path.appending("loop")] {
      let error = #expect(throws: FileError.self) { try MappedFile(path) }
      #expect(error?.path == path)
    }
    #expect(throws: FileError.self) { try Digest(ofFileAt: pipe) }
    let absent = #expect(throws: FileError.self) { try MappedFile(folder.path.appending("a/b")) }
    #expect(absent?.kind == .notFound)
    try folder.write([], to: "file")
    let below = #expect(throws: FileError.self) { try MappedFile(folder.path.appending("file/b")) }
    #expect(below?.kind == .notFound)
    #expect(below?.description.contains("not a folder") == true)
  }
}
