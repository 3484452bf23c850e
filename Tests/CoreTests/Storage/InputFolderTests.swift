import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// What is opened once for many files gives what each file gives by itself.
@Suite struct `Folders that are held open for many files` {
  private let scratch: TemporaryFolder
  private var folder: FilePath { scratch.path.appending("capture") }

  /// Everything that a name can be, and whether it can be read from inside the folder.
  private static let names: [(name: String, isReadable: Bool)] = [
    ("file", true), ("empty", true), ("near", true), ("deep", true), ("out", false),
    ("loop", false),
    ("absent", false), ("pipe", false), ("inner", false), (".", false), ("..", false),
    ("secret", getuid() == 0),
  ]

  init() throws {
    scratch = try TemporaryFolder()
    try FileSystem.makeFolder(folder.appending("inner"))
    for (name, text) in [
      ("capture/file", "content"), ("capture/empty", ""), ("capture/secret", "s"),
      ("capture/inner/far", "far"), ("outside", "outside"),
    ] {
      try OutputFile.write(Array(text.utf8), to: scratch.path.pushing(FilePath(name)))
    }
    for (name, target) in [
      ("near", "file"), ("deep", "inner/far"), ("out", "../outside"), ("loop", "loop"),
    ] {
      #expect(symlink(target, folder.appending(name).string) == 0)
    }
    #expect(mkfifo(folder.appending("pipe").string, 0o600) == 0)
    #expect(chmod(folder.appending("secret").string, 0) == 0)
    EnclosedPaths.enclose(folder, links: .inside)
  }

  private func whole(_ name: String) -> Result<[UInt8], FileError> {
    Result { () throws(FileError) in
      try InputFile(folder.appending(name)).whole(limit: InputLimits.bytesOfPicture)
    }
  }

  private func held(_ folder: InputFolder, _ name: String) -> Result<[UInt8], FileError> {
    Result { () throws(FileError) in
      try folder.whole(name, limit: InputLimits.bytesOfPicture)
    }
  }

  @Test func `each file has the content, or the error, that it has by itself`() {
    let input = InputFolder(folder)
    for (name, isReadable) in Self.names {
      let (alone, together) = (whole(name), held(input, name))
      #expect((try? together.get()) == (try? alone.get()), "\(name)")
      #expect(((try? together.get()) != nil) == isReadable, "\(name)")
      if case .failure(let mine) = together, case .failure(let theirs) = alone {
        #expect(mine.description == theirs.description, "\(name)")
      }
    }
  }

  @Test func `a limit is told with the file that exceeds it`() throws {
    let limit = InputLimit("bytes in a note", most: 6, "notes are short")
    let error = try #require(throws: FileError.self) {
      try InputFolder(folder).whole("file", limit: limit)
    }
    #expect(error.description.contains("capture/file"))
    #expect(error.description.contains("7 bytes in a note, at most 6 are read"))
  }

  @Test func `a folder that is not there gives the error of its files`() throws {
    let error = try #require(throws: FileError.self) {
      try InputFolder(scratch.path.appending("gone")).whole("a", limit: InputLimits.bytesOfPicture)
    }
    #expect(error.kind == .notFound)
  }

  @Test func `files keep coming from the folder that was opened first`() throws {
    let input = InputFolder(folder)
    #expect(try held(input, "file").get() == Array("content".utf8))
    let moved = scratch.path.appending("moved")
    #expect(rename(folder.string, moved.string) == 0)
    try FileSystem.makeFolder(folder)
    try OutputFile.write(Array("other".utf8), to: folder.appending("file"))
    #expect(try held(input, "file").get() == Array("content".utf8))
  }

  @Test func `stamps are those that each file has by itself`() {
    var stamps = FileStamps()
    for (name, _) in Self.names {
      let path = folder.appending(name).string
      let stamp = stamps.stamp(of: path)
      #expect(stamp == FileStamp(of: path), "\(name)")
    }
    for path in ["", "/", "relative", "/nothing/here", scratch.path.appending("outside").string] {
      let stamp = stamps.stamp(of: path)
      #expect(stamp == FileStamp(of: path), "\(path)")
    }
  }

  @Test func `stamps of more folders than are held open are right, too`() throws {
    var stamps = FileStamps()
    var found: Set<UInt64> = []
    for round in 0..<2 {
      for number in 0..<40 {
        let path = scratch.path.appending("many").appending("\(number)").appending("file")
        if round == 0 {
          try FileSystem.makeFolder(path.removingLastComponent())
          try OutputFile.write([UInt8(number)], to: path)
        }
        let stamp = stamps.stamp(of: path.string)
        #expect(stamp == FileStamp(of: path))
        found.insert(try #require(stamp).inode)
      }
    }
    #expect(found.count == 40)
  }
}

@Suite struct `Files that are read, not mapped` {
  let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func write(_ text: String, _ name: String) throws -> FilePath {
    let path = scratch.path.appending(name)
    try path.write(text)
    return path
  }

  @Test func `heads, pieces and whole files`() throws {
    let file = try InputFile(write("0123456789", "a"))
    #expect(try file.head(4) == Array("0123".utf8))
    #expect(try file.bytes(at: 8, count: 100) == Array("89".utf8))
    #expect(try file.bytes(at: 100, count: 1) == [])
    #expect(try file.whole(limit: InputLimits.bytesOfSettings).count == 10)
  }

  @Test func `a file that got shorter gives what is left`() throws {
    let path = try write("0123456789", "a")
    let file = try InputFile(path)
    #expect(truncate(path.string, 3) == 0)
    #expect(try file.head(10) == Array("012".utf8))
  }

  @Test func `a file above a limit is refused with its name, its number and the limit`() throws {
    let path = try write("0123456789", "a")
    let limit = InputLimit("bytes in a note", most: 9, "notes are short")
    let error = try #require(throws: FileError.self) { try InputFile(path).whole(limit: limit) }
    #expect(
      error.description
        == "\(path): cannot be read: 10 bytes in a note, at most 9 are read: notes are short")
  }

  @Test func `a pipe, a device and a folder are refused without waiting`() throws {
    let pipe = scratch.path.appending("pipe")
    #expect(mkfifo(pipe.string, 0o600) == 0)
    for path in [pipe, scratch.path, "/dev/zero", "/dev/tty"] {
      #expect(throws: FileError.self) { try InputFile(path) }
    }
  }

  @Test func `links must resolve inside the folder given`() throws {
    let inside = scratch.path.appending("inside")
    try FileSystem.makeFolder(inside)
    _ = try write("in", "inside/in")
    _ = try write("out", "out")
    let root = try EnclosedFolder(inside)
    for (target, name, isFine) in [
      ("in", "near", true), (inside.appending("in").string, "absolute", true),
      ("../out", "far", false), ("far", "twice", false), ("/proc/self/environ", "proc", false),
      ("../inside/in", "around", true),
    ] {
      let link = inside.appending(name)
      #expect(symlink(target, link.string) == 0)
      let opened = try? InputFile(name, in: root)
      #expect((opened != nil) == isFine, "\(name)")
    }
  }
}

@Suite struct `Limits of input` {
  @Test(
    arguments: [
      InputLimits.pixelsOfPicture, InputLimits.sideOfPicture, InputLimits.scansOfJPEG,
      InputLimits.scannedPixelsOfJPEG, InputLimits.bytesOfPicture, InputLimits.tracksOfMovie,
      InputLimits.samplesOfMovie, InputLimits.bytesOfMovieIndex, InputLimits.boxesOfMovieIndex,
      InputLimits.depthOfMovieIndex, InputLimits.bytesOfJSON, InputLimits.bytesOfLine,
      InputLimits.bytesOfDescription, InputLimits.depthOfJSON, InputLimits.bytesOfSettings,
      InputLimits.depthOfYAML, InputLimits.aliasesOfYAML, InputLimits.bytesOfRecord,
      InputLimits.samplesOfIMU, InputLimits.bytesOfTable, InputLimits.framesOfCapture,
    ])
  func `just at a limit passes, just above tells number, limit and reason`(_ limit: InputLimit)
    throws
  {
    try limit.check(limit.most, of: "file")
    let error = try #require(throws: FileError.self) { try limit.check(limit.most + 1, of: "file") }
    #expect(error.description.hasPrefix("file: "))
    for word in ["\(limit.most + 1) \(limit.what)", "at most \(limit.most) ", limit.reason] {
      #expect(error.description.contains(word))
    }
  }

  private static func aliases(_ count: Int) -> String {
    "a: &a 1\nb: [" + (0..<count).map { _ in "*a" }.joined(separator: ", ") + "]\n"
  }

  @Test(
    arguments: [
      (String(repeating: "[", count: 64), true), (String(repeating: "[", count: 100_000), false),
      (String(repeating: "{a: ", count: 65), false),
      (String(repeating: "- ", count: 63) + "a", true),
      (String(repeating: "- ", count: 5000), false),
      (String(repeating: "? ", count: 5000), false), (aliases(32), true), (aliases(33), false),
      ("a: [1, 2]\n", true), (String(repeating: "a: [1, 2]\n", count: 1000), true),
      ("a: 2 * 3\n", true), (String(repeating: "#", count: 1_048_577), false),
      ((0..<200).map { String(repeating: " ", count: $0) + "a:\n" }.joined(), false),
    ])
  func `YAML is not parsed where it is too deep, too long or endless`(
    _ text: String, _ isFine: Bool
  ) {
    #expect((InputLimits.problem(inYAML: text) == nil) == isFine)
  }
}

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
