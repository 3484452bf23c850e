@testable import Captures
import FoundationEssentials
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Captures that are one file, and recognizers that look into subfolders")
struct FileCaptureTests {
  /// `*.pack` and `*.zip` that begin with `PACK` are captures; so is a folder with `parts/0.part`, which is called
  /// after its parent if its name is `RAW`.
  private enum Packs: CaptureReader {
    static let description = FamilyDescription(
      CaptureFamily("packs"), title: "Packs", generations: [.init("p1")], recognition: "a pack")
    static let readerVersion = 1
    /// Paths that were looked into.
    static let opened = Mutex<[FilePath]>([])

    static func recognize(_ listing: FolderListing) -> [Recognition] {
      guard listing.names(in: "parts").contains("0.part") else { return [] }
      let name = listing.folder.name ?? ""
      return [
        Recognition(
          family: family, certainty: .certain, folder: listing.folder,
          id: name == "RAW" ? listing.folder.removingLastComponent().name ?? "" : name,
          reason: "parts")
      ]
    }

    static func mayBeCapture(fileName: String) -> Bool {
      [".pack", ".zip"].contains { fileName.hasSuffix($0) }
    }

    static func recognize(file: InputFile) throws(FileError) -> Recognition? {
      opened.withLock { $0.append(file.path) }
      guard try file.head(4) == Array("PACK".utf8), let name = file.path.name else { return nil }
      return Recognition(
        family: family, certainty: .certain, file: file.path,
        id: name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name, reason: "PACK")
    }

    static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
      var capture = Capture(
        id: recognition.id, family: family, generation: "p1", file: recognition.path,
        clock: CaptureClock(.nominal, unit: "ns"))
      capture.files[.depth] = [recognition.path]
      return capture
    }
  }

  private let scratch: ScratchCapture
  private let registry = CaptureRegistry([Packs.self])
  private var finder: CaptureFinder { CaptureFinder(registry) }
  private var root: FilePath { PathSafety.resolved(scratch.folder) ?? scratch.folder }
  private static let pack = Array("PACK and more".utf8)

  init() throws { scratch = try ScratchCapture(named: "in") }

  private func write(_ bytes: [UInt8], _ path: String) throws -> FilePath {
    try scratch.write(bytes, to: path)
    return root.pushing(FilePath(path))
  }

  @Test("a file that is named is the capture, and its path is the file")
  func named() throws {
    let file = try write(Self.pack, "a.pack")
    let found = finder.find(file)
    #expect(found.path == file)
    let capture = try #require(found.captures.first)
    #expect(capture.isFile && !capture.isWholeFolder && capture.path == file)
    #expect(capture.folder == root && capture.id == "a" && found.captures.count == 1)
    let opened = try registry.open(capture)
    #expect(opened.path == file && opened.folder == root && opened.isFile)
    #expect(CaptureLocation(capture) == CaptureLocation(file))
  }

  @Test("what the file holds decides, not its ending")
  func content() throws {
    let odd = try write(Self.pack, "a.dat")
    let wrong = try write(Array("PK\u{3}\u{4}".utf8), "b.pack")
    #expect(finder.find(odd).captures.map(\.id) == ["a"])
    #expect(finder.find(wrong).captures.isEmpty)
    // In a folder only names that are worth it are opened.
    #expect(finder.find(root).captures.isEmpty)
  }

  @Test("several lie in one folder, beside folders; other archives are named as not recognized")
  func several() throws {
    _ = try write(Self.pack, "a.pack")
    _ = try write(Self.pack, "b.zip")
    _ = try write(Array("PK\u{3}\u{4}".utf8), "c.zip")
    _ = try write([0], "d/parts/0.part")
    _ = try write(Self.pack, "e/f.pack")
    let found = finder.find(root)
    #expect(
      found.captures.map(\.path)
        == ["a.pack", "b.zip", "d", "e/f.pack"].map { root.pushing(FilePath($0)) })
    #expect(found.captures.map(\.id) == ["a", "b", "d", "f"])
    #expect(found.unrecognized.map(\.path) == [root.appending("c.zip")])
    #expect(
      found.unrecognized.allSatisfy { $0.isFile && $0.holds.count == 1 } && found.unreadable.isEmpty
    )
    // Several apps pack the folder of a capture.
    #expect(found.unrecognized.first?.holds.first?.contains("unpack it") == true)
  }

  @Test("naming another file of the folder does not choose the only one")
  func neighbor() throws {
    _ = try write(Self.pack, "a.pack")
    #expect(finder.find(try write([1], "notes.txt")).captures.isEmpty)
  }

  @Test("a folder may be called after the one above")
  func parentNames() throws {
    _ = try write([0], "2024-03-17--18-25-12/RAW/parts/0.part")
    let found = finder.find(root).captures
    #expect(found.map(\.id) == ["2024-03-17--18-25-12"])
    #expect(found.first?.path.name == "RAW")
  }

  @Test("a subfolder is listed once, up to a bound, and not through a link that leads out")
  func subfolders() throws {
    for index in 0..<300 { _ = try write([], "many/\(index)") }
    _ = try write([0], "other/parts/0.part")
    try FileSystem.makeFolder(root.appending("linked"))
    #expect(symlink("../other/parts", root.appending("linked/parts").string) == 0)
    let listing = try FolderListing(of: root)
    #expect(listing.names(in: "many").count == FolderListing.namesInSubfolder)
    #expect(listing.names(in: "nothing").isEmpty)
    #expect(try FolderListing(of: root.appending("linked")).names(in: "parts").isEmpty)
    #expect(finder.find(root).captures.map(\.id) == ["other"])
  }

  @Test("links to files are not captures of their own; one that is named leads to its target")
  func links() throws {
    let file = try write(Self.pack, "in/a.pack")
    let outside = try TemporaryFolder()
    try outside.write(Self.pack, to: "o.pack")
    #expect(symlink("a.pack", root.appending("in/b.pack").string) == 0)
    #expect(
      symlink(outside.path.appending("o.pack").string, root.appending("in/o.pack").string) == 0)
    #expect(symlink("nowhere", root.appending("in/n.pack").string) == 0)
    let found = finder.find(root)
    #expect(found.captures.map(\.path) == [file] && found.unreadable.isEmpty)
    #expect(finder.find(root.appending("in/b.pack")).captures.map(\.path) == [file])
  }

  @Test("a pipe, a socket or a folder with such a name is not opened")
  func hostileKinds() throws {
    _ = try write(Self.pack, "a.pack")
    #expect(mkfifo(root.appending("p.pack").string, 0o600) == 0)
    try FileSystem.makeFolder(root.appending("f.pack"))
    #expect(finder.find(root).captures.map(\.id) == ["a"])
    let named = finder.find(root.appending("p.pack"))
    #expect(named.captures.isEmpty)
    #expect(named.declined?.contains("not a regular file") == true, "\(named.declined ?? "")")
  }

  @Test(
    "one that cannot be read is told, also beside others that can",
    .enabled(if: geteuid() != 0, "root reads everything"))
  func unreadable() throws {
    _ = try write(Self.pack, "a.pack")
    let hidden = try write(Self.pack, "b.pack")
    #expect(chmod(hidden.string, 0) == 0)
    let found = finder.find(root)
    #expect(found.captures.map(\.id) == ["a"] && found.unreadable.map(\.path) == [hidden])
  }

  @Test("a link that takes the place of the file is not followed")
  func replaced() throws {
    let file = try write(Self.pack, "a.pack")
    let capture = try #require(finder.find(root).captures.first)
    try FileSystem.remove(file)
    let outside = try TemporaryFolder()
    try outside.write(Self.pack, to: "o.pack")
    #expect(symlink(outside.path.appending("o.pack").string, file.string) == 0)
    #expect(throws: FileError.self) { try InputFile(capture.path) }
    #expect(registry.capture(atFile: capture.path) == nil)
  }

  @Test("a location of a file is gone when the file is, and the same under a second name")
  func locations() throws {
    let file = try write(Self.pack, "a.pack")
    let location = CaptureLocation(file)
    #expect(!location.isGone && location.id != nil)
    #expect(link(file.string, root.appending("b.pack").string) == 0)
    #expect(location.isAlias(of: CaptureLocation(root.appending("b.pack"))))
    try FileSystem.remove(file)
    #expect(location.isGone)
  }

  @Test(
    "a recognition of a file keeps its form in JSON, and those of folders have the keys that they had"
  )
  func coded() throws {
    let file = Recognition(
      family: CaptureFamily("packs"), certainty: .certain, file: "/x/a.pack", id: "a", reason: "r")
    let back = try JSONDecoder().decode(Recognition.self, from: JSONEncoder().encode(file))
    #expect(back == file && back.isFile)
    let folder = Recognition(
      family: CaptureFamily("packs"), certainty: .certain, folder: "/x/a", id: "a", reason: "r")
    let text = String(decoding: try JSONEncoder().encode(folder), as: UTF8.self)
    #expect(text.contains("\"folder\"") && !text.contains("form") && !text.contains("path"))
  }

  @Test("what is remembered of a file by its stamp is not looked into again")
  func memory() throws {
    final class Memory: FolderMemory {
      let files = Mutex<[FilePath: (FileStamp, FileLook)]>([:])
      func recall(_ folder: FilePath) -> FolderLook? { nil }
      func note(_ look: FolderLook, of folder: FilePath) {}
      func recall(_ file: FilePath, _ stamp: FileStamp) -> FileLook? {
        files.withLock { $0[file].flatMap { $0.0 == stamp ? $0.1 : nil } }
      }
      func note(_ look: FileLook, of file: FilePath, _ stamp: FileStamp) {
        files.withLock { $0[file] = (stamp, look) }
      }
    }
    let file = try write(Self.pack, "a.pack")
    let memory = Memory()
    let remembering = CaptureFinder(registry, memory: memory)
    func looks() -> Int { Packs.opened.withLock { $0.count { $0 == file } } }
    #expect(remembering.find(root).captures.map(\.id) == ["a"] && looks() == 1)
    #expect(remembering.find(root).captures.map(\.id) == ["a"] && looks() == 1)
    _ = try write(Self.pack + [0], "a.pack")
    #expect(remembering.find(root).captures.map(\.id) == ["a"] && looks() == 2)
  }
}
