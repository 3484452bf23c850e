import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

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
