@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Folders that nothing leads out of") struct EnclosedFolderTests {
  private let scratch: TemporaryFolder
  private var inside: FilePath { scratch.path.appending("inside") }

  init() throws {
    scratch = try TemporaryFolder()
    for folder in ["inside/deep/deeper", "beside", "inside-too"] {
      try FileSystem.makeFolder(scratch.path.pushing(FilePath(folder)))
    }
    for file in ["inside/near", "inside/deep/far", "beside/out", "inside-too/out"] {
      try OutputFile.write(Array(file.utf8), to: scratch.path.pushing(FilePath(file)))
    }
    let root = inside.string
    for (name, target) in [
      ("to-near", "near"), ("to-far", "deep/far"), ("deep/back", "../near"),
      ("deep/deeper/up", "../../deep/back"), ("absolute", "\(root)/near"),
      ("around", "../inside/near"), ("to-deep", "deep"), ("absolute-deep", "\(root)/deep"),
      ("out", "../beside/out"), ("absolute-out", "\(scratch.path)/beside/out"),
      ("twice", "out"), ("prefix", "\(root)-too/out"), ("out-deep", "../beside"),
      ("above", ".."), ("loop", "loop"), ("ping", "pong"), ("pong", "ping"), ("absent", "nothing"),
      ("out-absent", "../nothing"), ("process", "/proc/self/environ"), ("device", "/dev/zero"),
      ("root", "/"), ("itself", "."),
    ] {
      #expect(symlink(target, inside.pushing(FilePath(name)).string) == 0)
    }
    #expect(mkfifo(inside.appending("pipe").string, 0o600) == 0)
  }

  private static let table: [(path: String, found: String)] = [
    ("near", "file"), ("to-near", "file"), ("to-far", "file"), ("deep/back", "file"),
    ("deep/deeper/up", "file"), ("absolute", "file"), ("around", "file"), ("to-deep", "folder"),
    ("to-deep/far", "file"), ("absolute-deep/far", "file"), ("deep/../near", "file"),
    (".", "folder"), ("itself/itself/near", "file"), ("out", "outside"),
    ("absolute-out", "outside"), ("twice", "outside"), ("prefix", "outside"),
    ("out-deep", "outside"), ("out-deep/out", "outside"), ("above", "outside"),
    ("../beside/out", "outside"), ("..", "outside"), ("loop", "nothing"), ("ping", "nothing"),
    ("absent", "nothing"), ("out-absent", "nothing"), ("no", "nothing"), ("near/x", "nothing"),
    ("process", "outside"), ("device", "outside"), ("root", "outside"), ("pipe", "other"),
  ]

  private func word(_ found: EnclosedFolder.Found) -> String {
    switch found {
    case .file: "file"
    case .folder: "folder"
    case .other: "other"
    case .outside: "outside"
    case .forbidden: "forbidden"
    case .nothing: "nothing"
    case .failed(let error): "\(error)"
    }
  }

  @Test(arguments: [false, true])
  func `links are followed as long as they stay inside`(walks: Bool) throws {
    try EnclosedFolder.$walks.withValue(walks) {
      let folder = try EnclosedFolder(inside)
      for (path, found) in Self.table {
        #expect(word(folder.look(at: path)) == found, "\(path)")
        #expect(
          (try? InputFile(path, in: folder)) != nil ? found == "file" : found != "file", "\(path)")
        #expect(
          (try? folder.folder(path)) != nil ? found == "folder" : found != "folder",
          "\(path)")
      }
    }
  }

  @Test(arguments: [false, true])
  func `or not at all`(walks: Bool) throws {
    try EnclosedFolder.$walks.withValue(walks) {
      let folder = try EnclosedFolder(inside, links: .none)
      for (path, found) in Self.table {
        let isLink = !["near", "deep/../near", ".", "pipe", "no", "near/x"].contains(path)
        let isAbove = path.hasPrefix("..")
        #expect(
          word(folder.look(at: path)) == (isLink ? "outside" : found),
          "\(path) \(isAbove)")
      }
    }
  }

  @Test func `a folder that is known to have no links on its way is not reached through one`()
    throws
  {
    let link = scratch.path.appending("link")
    #expect(symlink("inside", link.string) == 0)
    _ = try EnclosedFolder(link)
    _ = try EnclosedFolder(inside, followsPath: false)
    #expect(throws: FileError.self) { try EnclosedFolder(link, followsPath: false) }
    #expect(throws: FileError.self) {
      try EnclosedFolder(link.appending("deep"), followsPath: false)
    }
  }

  @Test(arguments: [false, true])
  func `paths below an enclosed folder, whoever opens them`(walks: Bool) throws {
    EnclosedPaths.enclose(inside, links: .inside)
    defer { EnclosedPaths.forget(inside) }
    try EnclosedFolder.$walks.withValue(walks) {
      for (name, found) in Self.table where !name.hasPrefix("..") && name != "." {
        let path = inside.pushing(FilePath(name))
        #expect((FileStamp(of: path) != nil) == (found == "file"), "\(name)")
        #expect(FileSystem.isFolder(path) == (found == "folder"), "\(name)")
        #expect((try? MappedFile(path)) != nil ? found == "file" : found != "file", "\(name)")
        #expect((try? InputFile(path)) != nil ? found == "file" : found != "file", "\(name)")
        #expect((try? Digest(ofFileAt: path)) != nil ? found == "file" : found != "file", "\(name)")
        #expect((try? FileIdentity(of: path)) != nil ? found == "file" : found != "file", "\(name)")
        #expect(
          (try? FileSystem.names(in: path)) != nil ? found == "folder" : found != "folder",
          "\(name)")
      }
      let error = try #require(throws: FileError.self) { try MappedFile(inside.appending("out")) }
      #expect(error.description.contains("leads out of \(inside)"))
      // What lies elsewhere is opened as ever.
      _ = try MappedFile(scratch.path.appending("beside/out"))
      _ = try MappedFile(scratch.path.appending("inside-too/out"))
    }
  }

  @Test(arguments: [false, true])
  func `a link that is put in the way at any moment is not followed`(walks: Bool) throws {
    // `inside/swap` is a folder or a link out, in turn, as fast as it goes.
    let (swap, other) = (inside.appending("swap"), scratch.path.appending("link"))
    try FileSystem.makeFolder(swap)
    try OutputFile.write(Array("in".utf8), to: swap.appending("x"))
    try OutputFile.write(Array("out".utf8), to: scratch.path.pushing(FilePath("beside/x")))
    #expect(symlink("../beside", other.string) == 0)
    let exchanger = try Exchanger(swap, other)
    defer { exchanger.stop() }
    try EnclosedFolder.$walks.withValue(walks) {
      let folder = try EnclosedFolder(inside)
      let limit = InputLimits.bytesOfSettings
      for _ in 0..<300 {
        if let found = try? InputFile("swap/x", in: folder).whole(limit: limit) {
          #expect(found == Array("in".utf8))
        }
        if let listed = try? folder.folder("swap") {
          #expect(try listed.list().map(\.name) == ["x"])
          #expect(listed.stampedContents(of: "x")?.bytes == Array("in".utf8))
        }
      }
    }
  }

  @Test func `below an output no link is followed, and the link is named`() throws {
    let output = scratch.path.appending("output")
    try FileSystem.makeFolder(output.appending("a"))
    let outer = scratch.path.appending("beside")
    EnclosedPaths.enclose(output, links: .none)
    defer { EnclosedPaths.forget(output) }
    for (target, name) in [
      (outer.string, "link"), ("../beside", "relative"), ("a", "inside"), ("nothing", "dangling"),
    ] {
      let link = output.appending(name)
      #expect(symlink(target, link.string) == 0)
      let before = try FileSystem.names(in: outer)
      func refused(_ what: String, _ body: () throws -> Void) {
        let error = #expect(throws: FileError.self, "\(name) \(what)") { try body() }
        #expect(error?.kind == .notOurs, "\(name) \(what): \(error?.description ?? "")")
        #expect(
          error?.description.contains("\(link): ") == true
            && error?.description.contains("symbolic link") == true
            && error?.description.contains("choose another --output") == true,
          "\(name) \(what): \(error?.description ?? "")")
      }
      refused("make") { try FileSystem.makeFolder(link.appending("x").appending("y")) }
      refused("write") { try OutputFile.write([], to: link.appending("x")) }
      refused("write itself") { try OutputFile.write([], to: link) }
      refused("list") { _ = try FileSystem.names(in: link) }
      refused("hold") { _ = try HeldFolder.following(link) }
      refused("hold below") { _ = try HeldFolder.following(link.appending("x")) }
      refused("lock") { _ = try FileLock(at: link.appending("lock"), holder: "x") { _ in false } }
      refused("map") { _ = try MappedFile(link.appending("out")) }
      #expect(!FileLock.isHeld(at: link.appending("lock")))
      #expect(FolderSize(of: link.appending("out")).files == 0)
      #expect(!FileSystem.exists(link.appending("out")))
      #expect(!FileSystem.isFolder(link))
      #expect(FileSystem.isLink(link))
      #expect(FileStamp(of: link.appending("out")) == nil)
      try? FileSystem.remove(link.appending("out"))
      #expect(try FileSystem.names(in: outer) == before)
      // The link itself may go.
      try FileSystem.remove(link)
      #expect(!FileSystem.exists(link))
    }
  }

  @Test func `a border is drawn once, and is gone when it is forgotten`() throws {
    let path = inside.appending("out")
    for _ in 0..<2 {
      EnclosedPaths.enclose(inside, links: .inside)
      // One that stands is not drawn otherwise, nor opened.
      EnclosedPaths.enclose(inside, links: .none)
      EnclosedPaths.leaveOpen(inside)
      #expect(FileStamp(of: path) == nil)
      #expect(FileStamp(of: inside.appending("to-near")) != nil)
    }
    EnclosedPaths.forget(inside)
    #expect(FileStamp(of: path) != nil)
    EnclosedPaths.forget(inside)
    EnclosedPaths.enclose(inside, links: .inside)
    defer { EnclosedPaths.forget(inside) }
    #expect(FileStamp(of: path) == nil)
  }

  @Test func `an output may itself be reached through links`() throws {
    let way = scratch.path.appending("way")
    #expect(symlink("inside", way.string) == 0)
    EnclosedPaths.enclose(way, links: .none)
    defer { EnclosedPaths.forget(way) }
    try FileSystem.makeFolder(way.appending("made"))
    try OutputFile.write([1], to: way.appending("made").appending("file"))
    #expect(try HeldFolder.following(way.appending("made")).contents(of: "file") == [1])
    #expect(FileSystem.exists(inside.appending("made").appending("file")))
    // What goes up again is the user's own word.
    _ = try MappedFile(way.pushing(FilePath("../beside/out")))
  }
}
