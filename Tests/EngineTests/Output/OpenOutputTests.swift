import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

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

@Suite("The output folder")
struct OutputTests {

  @Test("capture.json is there before the first stage, and keeps the warnings of all stages")
  func captureDocument() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { context in
      guard FileSystem.exists(OutputLayout.folder(above: context).appending("capture.json")) else {
        throw FailureTests.Broken()
      }
    }
    workshop.probe().before("frames") { $0.warnings.add(.emptyRecord, "depth", "empty") }
    #expect(workshop.run().exit == 0)
    let text = Text.read(workshop.layout().captureDocument)
    #expect(text?.contains("empty-record") == true)
    #expect(workshop.run(.only("color")).exit == 0)
    #expect(Text.read(workshop.layout().captureDocument) == text)
    #expect(workshop.run(.forced("color").only("color")).exit == 0)
    #expect(Text.read(workshop.layout().captureDocument) == text)
  }

  @Test(
    "A capture.json that the disk has torn is written anew", arguments: ["", "\0\0", "cut", "flip"])
  func tornDocument(damage: String) throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let place = workshop.layout().captureDocument
    let text = try #require(Text.read(place))
    let damaged =
      switch damage {
      case "cut": String(text.prefix(text.count / 2))
      case "flip": text.replacing(":", with: "+", maxReplacements: 1)
      default: damage
      }
    try Text.write(damaged, to: place)
    #expect(workshop.run().exit == 0)
    #expect(Text.read(place) == text)
  }
}

@Suite struct OutputNameTests {
  @Test(arguments: [
    ("scene0000_00", "scene0000_00"), ("a b/c", "a-b-c"), ("客厅", "客厅"), ("厨房 2", "厨房-2"),
    ("cafe\u{301}", "caf\u{E9}"), ("Кухня", "Кухня"), ("किचन", "किचन"), ("١٢٣", "١٢٣"),
    ("🏠", "_-"), ("a🏠b", "a-b"), ("-n", "_-n"), (".hidden", "_.hidden"), ("..", "_.."), ("", "_"),
    ("a~2", "a-2"), ("a._+@-z", "a._+@-z"), ("100%", "100-"), ("x\u{1B}[31m", "x--31m"),
    ("runs", "_runs"), ("RUNS", "_RUNS"), ("Index.HTML", "_Index.HTML"), ("redacted", "_redacted"),
    ("index.html", "_index.html"),
    ("\u{212A}", "K"), (".", "_."), ("runs2", "runs2"), ("a\r\nb", "a--b"), ("a\0b", "a-b"),
    ("../../etc", "_..-..-etc"),
  ])
  func `an id becomes a folder name`(id: String, name: String) {
    #expect(Array(OutputName.of(id: id).unicodeScalars) == Array(name.unicodeScalars))
  }

  @Test func `bytes that are no text are written in hex`() {
    #expect(OutputName.of(id: PathText.text(of: [0x63, 0xE9])) == "c%E9")
    #expect(OutputName.of(id: PathText.text(of: [0xFF, 0x2E])) == "%FF.")
    // An id with these characters as text is another one.
    #expect(OutputName.of(id: "c%E9") == "c-E9")
  }

  @Test(arguments: ["a", "客", "\u{E9}", "e\u{301}\u{323}"])
  func `long ids are cut at a character and told apart by a hash`(letter: String) {
    let long = String(repeating: letter, count: 300)
    let names = [long, long + "x", long + "y", "z" + long].map(OutputName.of)
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(name.utf8.count <= 200)
      #expect(name.utf8.count > 180)
    }
  }

  @Test func `two hundred bytes are not too long`() {
    let whole = String(repeating: "a", count: 200)
    #expect(OutputName.of(id: whole) == whole)
    let odd = PathText.text(of: [UInt8](repeating: 0xFF, count: 255))
    #expect(OutputName.of(id: odd).utf8.count <= 200)
    #expect(OutputName.of(id: odd).hasPrefix("%FF%FF"))
  }

  @Test(arguments: [
    ("scan", "scan", 1), ("scan~2", "scan", 2), ("scan~12", "scan", 12), ("scan~1", "scan~1", 1),
    ("scan~02", "scan~02", 1), ("scan~", "scan~", 1), ("~2", "", 2),
  ])
  func `a number is read back from a folder's name`(folder: String, name: String, number: Int) {
    #expect(OutputName.parts(folder) == (name, number))
  }
}

@Suite struct NameChoiceTests {
  @Test(
    arguments: [
      ([], true), (["scan"], true), (["x", "sc"], true), (["scan-of…"], true),
      (["scan-of..."], true),
      (["scan-*"], true), (["*-1"], true), (["s?an-of-[0-9]"], true), (["*-2"], false),
      (["can"], false), (["scan-off"], false), (["Scan"], false), (["out-name"], true),
    ] as [([String], Bool)])
  func `beginnings of either name choose`(prefixes: [String], isChosen: Bool) {
    let choice = NameChoice(idPrefixes: prefixes)
    #expect((choice.refusal(ids: ["scan-of-1", "out-name"], names: []) == nil) == isChosen)
  }

  @Test func `patterns win over beginnings`() {
    let choice = NameChoice(idPrefixes: ["a"], excluded: ["*b"])
    #expect(choice.refusal(ids: ["ab"], names: ["ab"]) == "not selected: --exclude *b")
    #expect(choice.refusal(ids: ["ac"], names: ["ac"]) == nil)
    #expect(choice.refusal(ids: ["b"], names: ["c"]) == "not selected by --id")
  }

  @Test func `beginnings that nothing has are known`() {
    let choice = NameChoice(idPrefixes: ["a", "zz", "b…"])
    #expect(choice.unknownPrefixes(among: ["ab", "bc"]) == ["zz"])
    #expect(choice.unknownPrefixes(among: []) == ["a", "zz", "b…"])
  }
}
