@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

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
