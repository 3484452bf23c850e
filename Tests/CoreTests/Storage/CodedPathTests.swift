import FoundationEssentials
@testable import Core
import SystemPackage
import Testing

@Suite("Paths in JSON")
struct CodedPathTests {
  private struct Holder: Codable, Equatable {
    @CodedPath var path: FilePath
    @CodedOptionalPath var other: FilePath? = nil
  }

  @Test(
    "Are their text and come back byte for byte", arguments: ["/a/b c/ü", "x", "/odd/\u{10FFFF}"])
  func roundTrip(text: String) throws {
    let path = FilePath(text: text)
    let holder = Holder(path: path, other: path)
    let data = try JSONEncoder().encode(holder)
    #expect(try JSONDecoder().decode(Holder.self, from: data) == holder)
    #expect(!String(decoding: data, as: UTF8.self).contains("storage"))
  }

  @Test("A path that may be absent may be null, and its key may be missing")
  func absent() throws {
    for json in [#"{"path": "/a"}"#, #"{"path": "/a", "other": null}"#] {
      let holder = try JSONDecoder().decode(Holder.self, from: Data(json.utf8))
      #expect(holder.path == "/a" && holder.other == nil)
    }
  }
}
