@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
import Glibc

@Suite("An output that is held open")
struct OpenOutputTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["capture.json", ".scanmill/owner.json"] {
      try write(name, "as it was")
    }
  }

  private func write(_ name: String, _ text: String) throws {
    let path = folder.path.appending("scan").pushing(FilePath(name))
    try FileSystem.makeFolder(path.removingLastComponent())
    try OutputFile.write(Array(text.utf8), to: path)
  }

  private func open(_ name: String = "scan") -> OpenOutput {
    OpenOutput(OutputLayout(root: folder.path, name: name))
  }

  @Test("A file is read once, so that all who ask for it see the same")
  func once() throws {
    let open = open()
    #expect(open.contents(of: "capture.json") == Array("as it was".utf8))
    #expect(open.note("owner.json") == Array("as it was".utf8))
    #expect(open.note("mark.json") == nil)
    for name in ["capture.json", ".scanmill/owner.json", ".scanmill/mark.json"] {
      try write(name, "changed")
    }
    #expect(open.contents(of: "capture.json") == Array("as it was".utf8))
    #expect(open.note("owner.json") == Array("as it was".utf8))
    #expect(open.note("mark.json") == nil)
    #expect(self.open().note("mark.json") == Array("changed".utf8))
  }

  @Test("What takes its place is not looked into")
  func replaced() throws {
    let open = open()
    let path = folder.path.appending("scan")
    try FileSystem.rename(path, to: folder.path.appending("before"))
    try write("capture.json", "other")
    try write(".scanmill/owner.json", "other")
    #expect(open.contents(of: "capture.json") == Array("as it was".utf8))
    #expect(open.note("owner.json") == Array("as it was".utf8))
  }

  @Test("Nothing is there, or a link is: nothing is read")
  func absent() throws {
    #expect(symlink("scan", folder.path.appending("link").string) == 0)
    for name in ["nothing", "link"] {
      let open = open(name)
      #expect(open.folder == nil && open.notes == nil)
      #expect(open.contents(of: "capture.json") == nil && open.note("owner.json") == nil)
    }
  }
}
