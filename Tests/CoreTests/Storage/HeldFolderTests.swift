import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Folders held by descriptor")
struct HeldFolderTests {
  /// A folder `held` beside `outside`, which holds a file of somebody else.
  static func scene() throws -> (TemporaryFolder, HeldFolder) {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("outside"))
    try folder.write([7], to: "outside/file")
    return (folder, try HeldFolder.making(following: folder.path.appending("held")))
  }

  @Test("A link in the place of a folder or file is refused, wherever it leads")
  func links() throws {
    let (folder, held) = try Self.scene()
    try folder.link("held/folder", to: "../outside")
    try folder.link("held/file", to: "../outside/file")
    try folder.link("held/dangling", to: "../outside/new")
    let steps: [(String, () throws -> Void)] = [
      ("folder", { _ = try held.folder("folder") }),
      ("make", { _ = try held.makeFolder("folder") }),
      ("read", { _ = try held.contents(of: "file") }),
      ("append", { _ = try held.append(to: "file") }),
      ("append dangling", { _ = try held.append(to: "dangling") }),
      ("replace", { try held.replace("file", with: [1]) }),
      ("replace folder", { try held.replace("folder", with: [1]) }),
      ("write", { try held.write([1], as: "dangling") }),
      ("lock", { _ = try FileLock(in: held, name: "file", holder: "x") { _ in false } }),
      (
        "lock dangling",
        { _ = try FileLock(in: held, name: "dangling", holder: "x") { _ in false } }
      ),
    ]
    for (what, step) in steps {
      let error = #expect(throws: FileError.self, "\(what)") { try step() }
      if what != "write" { #expect(error?.kind == .notOurs, "\(what)") }
    }
    #expect(try FileSystem.names(in: folder.path.appending("outside")) == ["file"])
    #expect(try folder.bytes(of: "outside/file") == [7])
    #expect(FileSystem.isLink(held.path.appending("file")))
  }

  @Test(
    "Only names in the folder are taken",
    arguments: ["", ".", "..", "a/b", "/etc", "../outside/file", "a\0b"])
  func names(name: String) throws {
    let (folder, held) = try Self.scene()
    #expect(throws: FileError.self) { try held.folder(name) }
    #expect(throws: FileError.self) { try held.makeFolder(name) }
    #expect(throws: FileError.self) { try held.write([1], as: name) }
    #expect(throws: FileError.self) { try held.replace(name, with: [1]) }
    #expect(throws: FileError.self) { try held.remove(name) }
    #expect(throws: FileError.self) { try held.renameNew(name, to: held, as: "x") }
    #expect(try held.names() == [])
    #expect(try folder.bytes(of: "outside/file") == [7])
  }

  @Test("Steps act in the folder that was opened, whatever its path leads to now")
  func moved() throws {
    let (folder, held) = try Self.scene()
    #expect(held.isInPlace)
    try FileSystem.rename(held.path, to: folder.path.appending("away"))
    try folder.link("held", to: "outside")
    #expect(!held.isInPlace)
    try held.write([1], as: "one")
    try held.replace("two", with: [2])
    try held.remove("one")
    #expect(try FileSystem.names(in: folder.path.appending("away")) == ["two"])
    #expect(try FileSystem.names(in: folder.path.appending("outside")) == ["file"])
  }

  @Test("Removing goes as deep as it must, through no link, and knows names that are no text")
  func removal() throws {
    let (folder, held) = try Self.scene()
    var deep = try held.makeFolder("tree")
    for level in 0..<400 {
      try deep.write([1], as: "file")
      deep = try deep.makeFolder(level % 2 == 0 ? "a" : "b")
    }
    try folder.link("held/tree/link", to: "../../outside")
    let odd: [CChar] = Array((held.path.string + "/tree/odd").utf8CString.dropLast()) + [-1, 0]
    #expect(mkdir(odd, 0o777) == 0)
    try held.remove("tree")
    #expect(try held.names() == [])
    #expect(try folder.bytes(of: "outside/file") == [7])
    try held.remove("tree")
  }

  @Test("A folder that is exchanged for a link again and again while it is removed leads nowhere")
  func race() throws {
    let (folder, held) = try Self.scene()
    for number in 0..<40 { try folder.write([1], to: "outside/\(number)") }
    try folder.link("held/link", to: "../outside")
    let inner = try held.makeFolder("tree")
    for number in 0..<200 { _ = try inner.makeFolder("\(number)") }
    // The two names change places while `tree` is gone through.
    let exchanger = try Exchanger(held.path.appending("tree/7"), held.path.appending("link"))
    defer { exchanger.stop() }
    for _ in 0..<50 {
      do throws(FileError) {
        try held.remove("tree")
        break
      } catch {}
    }
    #expect(try FileSystem.names(in: folder.path.appending("outside")).count == 41)
  }

  @Test("Every step can be made to fail, and then leaves nothing half done")
  func faults() throws {
    let (folder, held) = try Self.scene()
    defer { withExtendedLifetime(folder) {} }
    try held.write([1], as: "old")
    _ = try held.makeFolder("folder")
    let steps: [(StorageFaults.Step, () throws -> Void)] = [
      (.makeFolder, { _ = try held.makeFolder("new") }),
      (.create, { try held.write([2], as: "x") }),
      (.write, { try held.write([2], as: "x") }),
      (.flush, { try held.write([2], as: "x", durably: true) }),
      (.flush, { try held.replace("old", with: [2]) }),
      (.rename, { try held.replace("old", with: [2]) }),
      (.rename, { try held.renameNew("old", to: held, as: "x") }),
      (.exchange, { _ = try held.exchange("old", with: held, "folder") }),
      (.unlink, { try held.remove("old") }),
      (.unlink, { try held.remove("folder") }),
      (.flushFolder, { try held.flush() }),
      (.flushFileSystem, { try held.flushFileSystem() }),
    ]
    #expect(Set(steps.map(\.0)).count == StorageFaults.Step.allCases.count)
    for (failing, step) in steps {
      StorageFaults.set(below: held.path) { step, _ in step == failing ? .ioError : nil }
      let error = #expect(throws: FileError.self, "\(failing)") { try step() }
      StorageFaults.set(below: held.path, nil)
      #expect(error?.kind == .temporary)
      #expect(error?.path.starts(with: held.path) == true)
      #expect(try held.names() == ["folder", "old"], "\(failing)")
      #expect(try held.contents(of: "old") == [1])
    }
  }

  @Test("A file system that cannot make a folder durable is no error")
  func unsyncableFolder() throws {
    let (folder, held) = try Self.scene()
    defer { withExtendedLifetime(folder) {} }
    StorageFaults.set(below: held.path) { step, _ in
      step == .flushFolder ? .invalidArgument : nil
    }
    defer { StorageFaults.set(below: held.path, nil) }
    try held.flush()
  }

  @Test(
    "Looks that the machine fails at are errors, not empty folders and absent files, and are noted")
  func failingLooks() throws {
    let (folder, held) = try Self.scene()
    defer { withExtendedLifetime(folder) {} }
    try held.write([1], as: "file")
    try held.makeFolder("folder").write([1], as: "inner")
    let looks: [(StorageFaults.Look, () throws -> Void)] = [
      (.list, { _ = try held.list() }), (.list, { _ = try held.names() }),
      (.open, { _ = try held.folder("folder") }), (.open, { _ = try held.listable("folder") }),
      (.open, { _ = try held.contents(of: "file") }),
      (.inspect, { _ = try held.entry("file") }), (.inspect, { _ = try held.lookable("file") }),
    ]
    for (failing, look) in looks {
      let mark = DeviceErrors.mark
      StorageFaults.setLooks(below: held.path) { step, _ in
        step == failing ? .staleNFSFileHandle : nil
      }
      let error = #expect(throws: FileError.self, "\(failing)") { try look() }
      StorageFaults.setLooks(below: held.path, nil)
      #expect(error?.code == .staleNFSFileHandle)
      #expect(DeviceErrors.since(mark, at: held.path).map(\.code) == [.staleNFSFileHandle])
    }
    // Where `nil` stands for what is absent the error is noted all the same.
    let quiet: [(StorageFaults.Look, () -> Bool)] = [
      (.open, { held.below("folder") == nil }), (.inspect, { held.stamp(of: "file") == nil }),
      (.open, { held.stampedContents(of: "file") == nil }),
      (.read, { held.stampedContents(of: "file") == nil }),
      (.inspect, { FileStamp(of: held.path.appending("file")) == nil }),
    ]
    for (failing, isNothing) in quiet {
      let mark = DeviceErrors.mark
      StorageFaults.setLooks(below: held.path) { step, _ in step == failing ? .ioError : nil }
      #expect(isNothing(), "\(failing)")
      StorageFaults.setLooks(below: held.path, nil)
      #expect(DeviceErrors.since(mark, at: held.path).map(\.code) == [.ioError], "\(failing)")
    }
    let mark = DeviceErrors.mark
    #expect(held.stamp(of: "nothing") == nil && held.below("nothing") == nil)
    #expect(DeviceErrors.since(mark, at: held.path).isEmpty)
  }

  @Test(
    "A link that is put in place between the look and the write is not written through",
    arguments: ["folder", "file"])
  func swapped(part: String) throws {
    let (folder, held) = try Self.scene()
    let (outside, away) = (folder.path.appending("outside"), folder.path.appending("away"))
    let place = held.path.appending("in")
    try FileSystem.makeFolder(place)
    StorageFaults.set(below: held.path) { step, path in
      guard step == .create else { return nil }
      if part == "folder" {
        #expect(rename(place.string, away.string) == 0)
        #expect(symlink(outside.string, place.string) == 0)
      } else {
        #expect(symlink(outside.appending("file").string, path.string) == 0)
      }
      return nil
    }
    defer { StorageFaults.set(below: held.path, nil) }
    if part == "folder" {
      try OutputFile.write([1], to: place.appending("file"))
      #expect(try folder.bytes(of: "away/file") == [1])
    } else {
      let error = #expect(throws: FileError.self) {
        try OutputFile.write([1], to: place.appending("file"))
      }
      #expect(error?.kind == .notOurs)
    }
    #expect(try folder.bytes(of: "outside/file") == [7])
  }

  @Test("A path from a folder is looked at as it is: links by themselves, kinds, stamps")
  func looks() throws {
    let (folder, held) = try Self.scene()
    try FileSystem.makeFolder(held.path.appending("a").appending("b"))
    try folder.write([1, 2], to: "held/a/b/file")
    try folder.link("held/a/link", to: "b/file")
    try folder.link("held/out", to: "../outside")
    #expect(held.status(of: ".")?.kind == .folder)
    #expect(held.status(of: "a/link")?.kind == .link)
    #expect(held.status(of: "a/none") == nil)
    let inner = try #require(held.below("a/b"))
    #expect(inner.path == held.path.appending("a").appending("b"))
    #expect(inner.stamp(of: "file") == FileStamp(of: inner.path.appending("file")))
    #expect(inner.stampedContents(of: "file")?.bytes == [1, 2])
    #expect(inner.stampedContents(of: "file", limit: 1) == nil)
    #expect(throws: FileError.self) { try inner.contents(of: "file", limit: 1) }
    for path in ["a/link", "out", "..", "a/../a", "a/b/file", "none"] {
      #expect(held.below(path) == nil, "\(path)")
    }
    let above = try #require(held.below("a"))
    #expect(above.stamp(of: "link") == nil && above.stampedContents(of: "link") == nil)
    let kinds = try above.list().sorted { $0.name < $1.name }
    #expect(kinds.map(\.name) == ["b", "link"] && kinds.map(\.kind) == [.folder, .link])
  }

  @Test("A file of a lock that has a second name elsewhere is not written to")
  func hardLink() throws {
    let (folder, held) = try Self.scene()
    #expect(
      link(folder.path.appending("outside/file").string, held.path.appending("lock").string) == 0)
    let error = #expect(throws: FileError.self) {
      _ = try FileLock(in: held, holder: "x") { _ in false }
    }
    #expect(error?.kind == .notOurs)
    #expect(try folder.bytes(of: "outside/file") == [7])
  }

  @Test("A log below an output goes through no link")
  func log() throws {
    let (folder, held) = try Self.scene()
    try folder.link("held/runs", to: "../outside")
    LogFile(held.path.appending("runs/1/log"), below: held.path).write("line")
    #expect(try FileSystem.names(in: folder.path.appending("outside")) == ["file"])
    LogFile(held.path.appending("more/1/log"), below: held.path).write("line")
    #expect(try folder.bytes(of: "held/more/1/log") == Array("line\n".utf8))
  }
}
