@testable import Media
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Notes in PNG files")
struct PNGTextTests {
  private static let picture = DepthImage(
    width: 3, height: 2, millimeters: [1, 2, 3, 4, 5, 65_535])

  @Test("A note is in the file, the pixels stay the same", arguments: PNGCompression.allCases)
  func notes(compression: PNGCompression) throws {
    let notes = try [
      #require(PNGText(keyword: "Software", text: "scanmill é\nline two")),
      #require(PNGText(keyword: "a", text: "")),
    ]
    var writer = PNGWriter(compression: compression, notes: notes)
    let file = try writer.encode(Self.picture)
    #expect(try PNGReader.depth(in: file) == Self.picture)
    let chunk = "tEXtSoftware\0scanmill \u{e9}\nline two".unicodeScalars.map { UInt8($0.value) }
    #expect(file.firstRange(of: chunk) != nil)
    var plain = PNGWriter(compression: compression)
    #expect(try plain.encode(Self.picture).count == file.count - 12 - 9 - 19 - 12 - 2)

    let folder = try TemporaryFolder()
    let path = folder.path.appending("note.png")
    try OutputFile.write(file, to: path)
    if PeerProgram.pngcheck.isInstalled {
      #expect(try PeerProgram.pngcheck.run(["-v", path.string]) == 0)
    }
  }

  @Test(
    "What cannot stand in a file is no note",
    arguments: [
      ("", "text"), (" a", "text"), ("a ", "text"), ("a  b", "text"), ("a\n", "text"),
      (String(repeating: "k", count: 80), "text"), ("key", "null \0"), ("key", "snow ☃"),
      ("key", String(repeating: "x", count: 65_537)),
    ])
  func refused(keyword: String, text: String) {
    #expect(PNGText(keyword: keyword, text: text) == nil)
  }
}
