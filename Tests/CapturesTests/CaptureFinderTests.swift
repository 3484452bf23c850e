@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite struct CaptureFinderTests {
  /// A folder with `toy.txt` is a capture; every `NAME.toy` is one of a shelf.
  private enum Toys: CaptureReader {
    static let description = FamilyDescription(
      CaptureFamily("toys"), title: "Toys", generations: [.init("t1")],
      recognition: "a folder of toys")
    static let readerVersion = 1

    static func recognize(_ listing: FolderListing) -> [Recognition] {
      if listing.contains("toy.txt"), !listing.head(of: "toy.txt").isEmpty {
        return [found(listing, nil, listing.folder.name ?? "")]
      }
      return listing.files.filter { $0.hasSuffix(".toy") }
        .map { found(listing, String($0.dropLast(4)), String($0.dropLast(4))) }
    }

    private static func found(_ listing: FolderListing, _ stem: String?, _ id: String)
      -> Recognition
    {
      Recognition(
        family: family, certainty: .certain, folder: listing.folder, stem: stem, id: id,
        reason: "toy")
    }

    static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
      throw CaptureError(file: recognition.folder, problem: "a toy")
    }
  }

  private let scratch: ScratchCapture
  private let finder = CaptureFinder(CaptureRegistry([Toys.self]))

  init() throws { scratch = try ScratchCapture(named: "in") }

  private func ids(_ path: FilePath? = nil) -> [String] {
    finder.find(path ?? scratch.folder).captures.map(\.id)
  }

  private var root: FilePath { PathSafety.resolved(scratch.folder) ?? scratch.folder }

  @Test func `captures lie up to six levels below, and no deeper`() throws {
    for depth in 1...7 {
      let folders = (1..<depth).map { "d\($0)" } + ["at\(depth)", "toy.txt"]
      try scratch.write("toy", to: folders.joined(separator: "/"))
    }
    #expect(Set(ids()) == ["at1", "at2", "at3", "at4", "at5", "at6"])
    // What was not looked into is told.
    let told = finder.find(scratch.folder).unrecognized
    #expect(told.map(\.path) == [root.appending("d1/d2/d3/d4/d5/d6")])
    #expect(told.map(\.holds) == [["at7/"]])
  }

  @Test func `a capture is not searched further, a shelf is`() throws {
    try scratch.write("toy", to: "whole/toy.txt")
    try scratch.write("toy", to: "whole/inner/toy.txt")
    try scratch.write("toy", to: "shelf/a.toy")
    try scratch.write("toy", to: "shelf/b.toy")
    try scratch.write("toy", to: "shelf/inner/toy.txt")
    #expect(ids() == ["a", "b", "inner", "whole"])
  }

  @Test func `folders that hold no capture are told with what they hold`() throws {
    try scratch.write("toy", to: "date/user/scan/toy.txt")
    try scratch.write("x", to: "date/README.txt")
    try scratch.write("x", to: "date/user/scan/inner/notes.txt")
    try scratch.write("x", to: "other/movie.mkv")
    try scratch.write("x", to: "other/deeper/log.txt")
    try scratch.write("x", to: "empty/.hidden")
    let found = finder.find(scratch.folder)
    #expect(found.captures.map(\.id) == ["scan"])
    #expect(
      found.unrecognized == [
        UnrecognizedFolder(path: root.appending("other"), holds: ["movie.mkv", "deeper/"])
      ])
    #expect(found.failures.isEmpty)
  }

  @Test func `hidden folders, outputs and folders left out are not searched`() throws {
    try scratch.write("toy", to: ".trash/scan/toy.txt")
    try scratch.write("{}", to: "out/.scanmill/output.json")
    try scratch.write("toy", to: "out/scan/toy.txt")
    try scratch.write("toy", to: "kept/toy.txt")
    try scratch.write("toy", to: "leave/toy.txt")
    let leave = root.appending("leave")
    let finder = CaptureFinder(CaptureRegistry([Toys.self]), isLeftOut: { $0 == leave })
    let found = finder.find(scratch.folder)
    #expect(found.captures.map(\.id) == ["kept"])
    #expect(found.unrecognized.isEmpty)
  }

  @Test func `links are followed inside the tree, once each, and never out of it`() throws {
    try scratch.write("toy", to: "a/scan/toy.txt")
    try scratch.write("toy", to: ".store/kept/toy.txt")
    let outside = scratch.outer.appending("outside")
    try FileSystem.makeFolder(outside.appending("far"))
    try OutputFile.write([1], to: outside.appending("far").appending("toy.txt"))
    for (link, target) in [
      ("again", "a"), ("a/up", ".."), ("stored", ".store/kept"), ("out", outside.string),
      ("gone", "nowhere"),
    ] {
      #expect(symlink(target, scratch.folder.appending(link).string) == 0)
    }
    #expect(ids() == ["kept", "scan"])
  }

  @Test func `names that are not UTF-8 are found like any other`() throws {
    let odd = scratch.folder.appending(name: PathText.text(of: [0x63, 0xE9, 0xFF]))
    try FileSystem.makeFolder(odd)
    try OutputFile.write([1], to: odd.appending("toy.txt"))
    let stem = PathText.text(of: [0x80, 0x62])
    try OutputFile.write([1], to: scratch.folder.appending(name: stem + ".toy"))
    let found = finder.find(scratch.folder).captures
    #expect(Set(found.map { PathText.bytes(of: $0.id) }) == [[0x63, 0xE9, 0xFF], [0x80, 0x62]])
    #expect(found.contains { $0.folder == PathSafety.resolved(odd) })
  }

  @Test func `stems that look alike in another composition are two captures`() throws {
    try scratch.write("toy", to: "caf\u{E9}.toy")
    try scratch.write("toy", to: "cafe\u{301}.toy")
    #expect(ids().count == 2)
  }

  @Test func `a file belongs to the longest stem that its name begins with`() throws {
    for name in ["scan.toy", "scan2.toy"] { try scratch.write("toy", to: name) }
    #expect(ids(scratch.folder.appending("scan2.toy")) == ["scan2"])
  }

  @Test func `what is absent and what is no capture say which`() throws {
    let absent = finder.find(scratch.folder.appending("nowhere"))
    #expect(absent.failures.map(\.declined) == [absent.declined])
    #expect(absent.declined?.contains("no such file or folder") == true)
    #expect(finder.find(scratch.folder).declined?.contains("is empty") == true)
  }

  @Test(.enabled(if: Unprivileged.isPossible, "needs to give up being root"))
  func `what may not be read is told by its permission and is a failure`() throws {
    try scratch.write("toy", to: "open/toy.txt")
    try scratch.write("toy", to: "shut/toy.txt")
    try scratch.write("toy", to: "file/toy.txt")
    #expect(chmod(scratch.folder.appending("shut").string, 0) == 0)
    #expect(chmod(scratch.folder.appending("file/toy.txt").string, 0) == 0)
    let found = Unprivileged.run { finder.find(scratch.folder) }
    #expect(found.captures.map(\.id) == ["open"])
    #expect(found.failures.count == 2)
    for failure in found.failures {
      #expect(failure.declined?.contains("permission denied") == true)
    }
    let shut = Unprivileged.run { finder.find(scratch.folder.appending("shut")) }
    #expect(shut.declined?.contains("permission denied") == true)
  }
}
