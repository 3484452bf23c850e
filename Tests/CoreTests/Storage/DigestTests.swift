import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Digests")
struct DigestTests {
  @Test(
    "SHA-256 of the published examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func vectors(text: String, hex: String) throws {
    #expect(Digest(of: text).hex == hex)
    #expect(Digest(of: Array(text.utf8)).hex == hex)
    let folder = try TemporaryFolder()
    #expect(try Digest(ofFileAt: try folder.write(Array(text.utf8), to: "f")).hex == hex)
  }

  @Test("A million letters, in pieces of any size and from a file longer than one piece")
  func million() throws {
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let hex = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    let hasher = Digest.Hasher()
    for start in stride(from: 0, to: letters.count, by: 777) {
      hasher.update(letters[start..<min(start + 777, letters.count)])
    }
    #expect(hasher.finish().hex == hex)
    let folder = try TemporaryFolder()
    let file = try folder.write(letters + letters, to: "f")
    #expect(try Digest(ofFileAt: file) == Digest(of: letters + letters))
  }

  @Test("What is no readable file says so")
  func errors() throws {
    let folder = try TemporaryFolder()
    let absent = #expect(throws: FileError.self) {
      try Digest(ofFileAt: folder.path.appending("absent"))
    }
    #expect(absent?.kind == .notFound)
    #expect(throws: FileError.self) { try Digest(ofFileAt: folder.path) }
    #expect(throws: FileError.self) { try Digest(ofFileAt: "/dev/zero") }
  }

  @Test("A digest is its hex text in JSON")
  func json() throws {
    let digest = Digest(of: "abc")
    let bytes = try JSONEncoder().encode([digest])
    #expect(String(decoding: bytes, as: UTF8.self) == "[\"\(digest.hex)\"]")
    #expect(try JSONDecoder().decode([Digest].self, from: bytes) == [digest])
    let hex = digest.hex
    #expect(MessageDigest.hex(digest.bytes) == hex)
    for text in ["", String(hex.dropLast()), hex + "0", hex.uppercased(), "+" + hex.dropFirst()] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([Digest].self, from: JSONEncoder().encode([text]))
      }
    }
  }

  @Test("Digests are ordered like their hex texts")
  func order() {
    let digests = (0..<50).map { Digest(of: "\($0)") }
    #expect(digests.sorted().map(\.hex) == digests.map(\.hex).sorted())
  }

  @Test("The digest of an artifact does not depend on the order of writing, but on all else")
  func outputs() {
    let entries = (0..<9).map {
      OutputEntry(path: "f\($0)", bytes: Int64($0), sha256: Digest(of: "\($0)"))
    }
    let digest = entries.digest
    #expect(entries.reversed().digest == digest)
    #expect(Array(entries[3...] + entries[..<3]).digest == digest)
    let changes: [(inout OutputEntry) -> Void] = [
      { $0.path = "x" }, { $0.bytes += 1 }, { $0.sha256 = Digest(of: "x") },
    ]
    for change in changes {
      var other = entries
      change(&other[4])
      #expect(other.digest != digest)
    }
    #expect(Array(entries.dropLast()).digest != digest)
  }
}
