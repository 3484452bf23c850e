import FoundationEssentials
import Testing

@testable import Captures

@Suite("Texts in other encodings")
struct TextBytesTests {
  static func utf16(_ text: String, bigEndian: Bool, mark: Bool) -> [UInt8] {
    ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
      let bytes = [UInt8(unit & 255), UInt8(unit >> 8)]
      return bigEndian ? bytes.reversed() : bytes
    }
  }

  @Test(
    "UTF-16 becomes UTF-8, with byte order mark or without", arguments: [true, false],
    [
      true, false,
    ])
  func utf16(bigEndian: Bool, mark: Bool) {
    let text = "{\"title\": \"Küche 客厅 🛋\"}\n"
    let bytes = Self.utf16(text, bigEndian: bigEndian, mark: mark)
    #expect(String(decoding: TextBytes.utf8(bytes), as: UTF8.self) == text)
    #expect(String(decoding: TextBytes.utf8(Data(bytes)), as: UTF8.self) == text)
    #expect(String(decoding: TextBytes.utf8(bytes + [7]), as: UTF8.self) == text)
  }

  @Test(
    "UTF-8 stays, its mark goes",
    arguments: [
      ([], []), ([0x7B], [0x7B]), ([0xEF, 0xBB, 0xBF, 0x7B], [0x7B]),
      (Array("a = b\n".utf8), Array("a = b\n".utf8)), ([0xC3, 0xA4, 0x3D], [0xC3, 0xA4, 0x3D]),
      ([0, 0, 0, 0], [0, 0, 0, 0]), ([0x41, 0, 0, 0], [0x41, 0, 0, 0]),
    ] as [([UInt8], [UInt8])])
  func utf8(bytes: [UInt8], expected: [UInt8]) {
    #expect(TextBytes.utf8(bytes) == expected)
    #expect(Array(TextBytes.utf8(Data(bytes))) == expected)
  }
}
