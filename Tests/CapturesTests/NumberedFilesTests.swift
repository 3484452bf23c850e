import Testing

@testable import Captures

@Suite("Files whose names are frame numbers")
struct NumberedFilesTests {
  @Test("Order is by number, whatever the listing's")
  func order() {
    let files = NumberedFiles(
      ["1000000.png", "000010.png", "000009.png", "0000011.png"], endings: ["png"])
    #expect(files.files.map(\.number) == [9, 10, 11, 1_000_000])
    #expect(files.files.map(\.name).last == "1000000.png")
  }

  @Test(
    "Names that are no number are ignored",
    arguments: [
      "._000000.png", ".000000.png", "00000.png", "000000.jpg", "000000", "00000a.png",
      "-00001.png", "+00001.png", "000000.png.part", "000000 .png", "٠٠٠٠٠٠.png", "", ".png",
    ])
  func ignored(name: String) {
    #expect(NumberedFiles([name], endings: ["png"]).isEmpty)
  }

  @Test("Of two files of one number the earlier ending counts, then the shorter name")
  func twice() {
    let files = NumberedFiles(
      ["000001.npy", "0000001.png", "000001.PNG"], endings: ["png", "npy"])
    #expect(files.files == [.init(number: 1, name: "000001.PNG")])
  }

  @Test("A number that no Int holds is the greatest, and not believed")
  func bounded() {
    let files = NumberedFiles(
      ["000000.png", "99999999999999999999.png"], endings: ["png"])
    #expect(files.files.map(\.number) == [0, .max])
    let believed = files.believing(upTo: FrameNumberLimit.of(records: 2))
    #expect(believed.files.map(\.number) == [0])
    #expect(believed.unbelieved.map(\.name) == ["99999999999999999999.png"])
  }

  @Test(
    "A number is believed up to a thousand and twice the records",
    arguments: [(0, 1000), (30, 1060), (10_000_000, 16_777_215), (.max, 16_777_215)])
  func limit(records: Int, most: Int) {
    #expect(FrameNumberLimit.of(records: records) == most)
  }
}
