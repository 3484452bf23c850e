@testable import Engine
@testable import Core
import Testing

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
