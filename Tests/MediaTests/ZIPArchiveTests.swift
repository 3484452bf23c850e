@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("ZIP archives")
struct ZIPArchiveTests {
  private static let text = Array("What is packed well is packed well is packed well.".utf8)
  private static let most = 1 << 20

  private func open(_ bytes: [UInt8]) throws -> ZIPArchive {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("a.zip")
    try path.write(bytes)
    // A map outlives the name of its file.
    return try ZIPArchive(try MappedFile(path))
  }

  private func contents(_ archive: ZIPArchive) -> [String: [UInt8]?] {
    var contents: [String: [UInt8]?] = [:]
    for entry in archive.entries {
      let name = String(decoding: entry.name, as: UTF8.self)
      if contents[name] == nil {
        contents[name] = .some(try? archive.content(of: entry, most: Self.most))
      }
    }
    return contents
  }

  private static let ordinary = [
    ScratchZIP.Entry("rgbd/0.jpg", text), ScratchZIP.Entry("rgbd/0.depth", text, isDeflated: true),
    ScratchZIP.Entry("metadata", Array("{}".utf8)), ScratchZIP.Entry("empty", []),
    ScratchZIP.Entry("empty-too", [], isDeflated: true),
  ]

  struct Form: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout ScratchZIP) -> Void
  }

  static let forms = [
    Form(testDescription: "plain") { _ in },
    Form(testDescription: "a comment like an end record") {
      $0.comment = [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 40)
    },
    Form(testDescription: "the longest comment") {
      $0.comment = [UInt8](repeating: 0x50, count: 65_535)
    },
    Form(testDescription: "ZIP64 at the end") { $0.ends64 = true },
    Form(testDescription: "ZIP64 everywhere") {
      $0.ends64 = true
      for index in $0.entries.indices { $0.entries[index].is64 = true }
    },
    Form(testDescription: "extra fields in local headers") {
      for index in $0.entries.indices { $0.entries[index].localExtra = 7 * index }
    },
    Form(testDescription: "sizes behind the data") {
      let all: [ScratchZIP.Descriptor] = [.signed, .plain, .signed64, .plain64, .signed]
      for index in $0.entries.indices { $0.entries[index].descriptor = all[index] }
    },
  ]

  @Test("Entries of every form are read", arguments: forms)
  func everyForm(_ form: Form) throws {
    var zip = ScratchZIP(Self.ordinary)
    form.change(&zip)
    let archive = try open(zip.make().bytes)
    #expect(!archive.isCut)
    #expect(archive.entries.count == 5)
    let contents = contents(archive)
    for entry in zip.entries {
      #expect(contents[String(decoding: entry.name, as: UTF8.self)] == .some(entry.content))
    }
  }

  @Test("Without the directory entries are found by their headers", arguments: forms)
  func walk(_ form: Form) throws {
    var zip = ScratchZIP(Self.ordinary)
    form.change(&zip)
    zip.hasDirectory = false
    let archive = try open(zip.make().bytes)
    #expect(archive.isCut)
    let contents = contents(archive)
    for entry in zip.entries {
      #expect(contents[String(decoding: entry.name, as: UTF8.self)] == .some(entry.content))
    }
  }

  @Test("Cut anywhere, what is whole is read and nothing else", arguments: forms)
  func cut(_ form: Form) throws {
    var zip = ScratchZIP(Self.ordinary)
    form.change(&zip)
    if zip.comment.count > 100 { zip.comment = Array(zip.comment.prefix(30)) }
    let (offsets, bytes) = try zip.make()
    for length in 4..<bytes.count {
      let archive = try open(Array(bytes[..<length]))
      let found = contents(archive)
      for (index, entry) in zip.entries.enumerated() {
        let name = String(decoding: entry.name, as: UTF8.self)
        let end = index + 1 < offsets.count ? offsets[index + 1] : nil
        if let end, length >= end {
          #expect(found[name] == .some(entry.content), "\(length) \(name)")
        }
        if length <= offsets[index] { #expect(found[name] == nil) }
        if let content = found[name] { #expect(content == nil || content == entry.content) }
      }
    }
  }

  @Test("A file that is no archive is refused", arguments: ["", "PK", "PK\u{3}", "{\"a\": 1}"])
  func others(_ text: String) {
    #expect(throws: ZIPError.self) { try open(Array(text.utf8)) }
  }

  @Test("An archive without entries has none")
  func none() throws {
    let archive = try open(ScratchZIP().make().bytes)
    #expect(archive.entries.isEmpty)
    #expect(!archive.isCut)
  }

  struct Lie: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout ScratchZIP.Entry) -> Void
  }

  @Test(
    "An entry that lies is refused, the others are read",
    arguments: [
      Lie(testDescription: "checksum") { $0.checksum = 1 },
      Lie(testDescription: "encrypted") { $0.flags = 1 },
      Lie(testDescription: "method") { $0.method = 12 },
      Lie(testDescription: "more content") { $0.claimedContent = 51 },
      Lie(testDescription: "less content") { $0.claimedContent = 49 },
      Lie(testDescription: "a bomb") { $0.claimedContent = 1 << 20 },
      Lie(testDescription: "more than is allowed") { $0.claimedContent = 1 << 21 },
      Lie(testDescription: "4 GB") { $0.claimedContent = 0xFFFF_FFFE },
      Lie(testDescription: "into the next entry") { $0.claimedPacked = 60 },
      Lie(testDescription: "behind the file") { $0.claimedPacked = 1 << 30 },
      Lie(testDescription: "starts behind the file") { $0.claimedOffset = 1 << 30 },
      Lie(testDescription: "starts at another entry") { $0.claimedOffset = 0 },
      Lie(testDescription: "starts inside itself") { $0.claimedOffset = 95 },
      Lie(testDescription: "another name") { $0.localName = Array("rgbd/9.depth".utf8) },
      Lie(testDescription: "64-bit sizes beyond all files") {
        $0.is64 = true
        $0.claimedPacked = Int.max
        $0.claimedContent = Int.max
      },
      Lie(testDescription: "64-bit offset beyond all files") {
        $0.is64 = true
        $0.claimedOffset = Int.max
      },
    ], [0, 8])
  func lies(_ lie: Lie, method: Int) throws {
    var zip = ScratchZIP(Self.ordinary)
    zip.entries[1].method = method
    lie.change(&zip.entries[1])
    let archive = try open(zip.make().bytes)
    let found = contents(archive)
    #expect(found["rgbd/0.depth"] == .some(nil))
    for name in ["rgbd/0.jpg", "empty", "empty-too"] {
      #expect(found[name] == zip.entries.first { $0.name == Array(name.utf8) }?.content)
    }
  }

  @Test("Names that lead outside are told")
  func hostility() throws {
    let names: [(String, Bool)] = [
      ("../../evil.jpg", true), ("/etc/evil", true), ("rgbd/..\\..\\evil.depth", true),
      ("C:evil", true), ("a/../b", true), ("..", true), ("", true), ("a\0b", true),
      ("..a/b..", false), ("rgbd/0.jpg", false), ("a//b", false), ("1:", false), ("ö/é", false),
    ]
    let archive = try open(
      ScratchZIP(names.map { ScratchZIP.Entry($0.0, Self.text) }).make().bytes)
    #expect(archive.entries.map { $0.hostility != nil } == names.map(\.1))
  }

  @Test("A damaged directory is not trusted: headers are walked")
  func damagedDirectory() throws {
    let (_, bytes) = try ScratchZIP(Self.ordinary).make()
    let signature: [UInt8] = [0x50, 0x4B, 1, 2]
    for start in bytes.indices.dropLast(4) where Array(bytes[start..<start + 4]) == signature {
      var damaged = bytes
      damaged[start] = 0
      let archive = try open(damaged)
      #expect(archive.isCut)
      #expect(archive.entries.count == 5)
    }
  }

  @Test("Behind a damaged header the walk goes on with the next")
  func damagedHeader() throws {
    var zip = ScratchZIP(Self.ordinary)
    zip.hasDirectory = false
    zip.entries[1].claimedPacked = 1 << 30
    let archive = try open(zip.make().bytes)
    #expect(
      archive.entries.map { String(decoding: $0.name, as: UTF8.self) } == [
        "rgbd/0.jpg", "metadata", "empty", "empty-too",
      ])
  }

  @Test("Signatures inside of data whose size is not known do not end it")
  func innerSignatures() throws {
    let inner = try ScratchZIP(Self.ordinary).make().bytes
    var zip = ScratchZIP([
      ScratchZIP.Entry("inner", inner + [0x50, 0x4B, 7, 8, 0, 0, 0, 0, 1, 2, 3, 4] + inner),
      ScratchZIP.Entry("last", Self.text),
    ])
    for descriptor in [ScratchZIP.Descriptor.signed, .plain, .signed64, .plain64] {
      zip.entries[0].descriptor = descriptor
      zip.hasDirectory = false
      let archive = try open(zip.make().bytes)
      #expect(archive.entries.count == 2)
      #expect(contents(archive)["inner"] == .some(zip.entries[0].content))
    }
  }

  @Test("A million headers that lead nowhere end the walk soon")
  func headersWithoutData() throws {
    var entry = ScratchZIP.Entry("x", [])
    entry.descriptor = .signed
    var zip = ScratchZIP([entry])
    zip.hasDirectory = false
    let header = Array(try zip.make().bytes.prefix(31))
    let archive = try open(Array(repeatElement(header, count: 50_000).joined()))
    #expect(archive.entries.isEmpty)
  }

  @Test("A number of entries that is stated modulo 65,536 hides none")
  func manyEntries() throws {
    let zip = ScratchZIP(Self.ordinary)
    var bytes = try zip.make().bytes
    let end = bytes.count - 22
    #expect(bytes[end + 10] == UInt8(Self.ordinary.count))
    // Both fields: on this disk, and in all.
    (bytes[end + 8], bytes[end + 10]) = (1, 1)
    let archive = try open(bytes)
    #expect(archive.entries.count == Self.ordinary.count && !archive.isCut)
    // More than there are is damage.
    (bytes[end + 8], bytes[end + 10]) = (200, 200)
    #expect(try open(bytes).isCut)
  }

  @Test("Whatever is changed in an archive, reading ends")
  func mutations() throws {
    var random = SeededGenerator(seed: 21)
    for form in Self.forms.filter({ $0.testDescription != "the longest comment" }) {
      var zip = ScratchZIP(Self.ordinary)
      form.change(&zip)
      let bytes = try zip.make().bytes
      for _ in 0..<Rounds.of(350, soak: 20_000) {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let place = Int.random(in: 0..<changed.count, using: &random)
          changed[place] = random.chance(3) ? 0xFF : UInt8.random(in: 0...255, using: &random)
        }
        guard let archive = try? open(changed) else { continue }
        _ = contents(archive)
      }
    }
  }

  @Test("Archives of Python's zipfile", .enabled(if: PythonScript.isPresent))
  func python() throws {
    let folder = try TemporaryFolder()
    let script = """
      import sys, zipfile, io
      class Pipe(io.RawIOBase):
          def __init__(self, f): self.f = f
          def write(self, b): return self.f.write(b)
          def writable(self): return True
      for name, seekable in (("a.zip", True), ("b.zip", False)):
          with open(name, "wb") as f:
              with zipfile.ZipFile(f if seekable else Pipe(f), "w") as z:
                  for i in range(40):
                      method = zipfile.ZIP_DEFLATED if i % 2 else zipfile.ZIP_STORED
                      with z.open(zipfile.ZipInfo(f"rgbd/{i}.depth"), "w", force_zip64=i % 5 == 0) as e:
                          e.write(bytes(i) * 50)
      """
    try PythonScript.run(["-c", script], in: folder.path).succeeds()
    for name in ["a.zip", "b.zip"] {
      let bytes = Array(
        try folder.path.appending(name).data())
      let whole = try open(bytes)
      #expect(!whole.isCut)
      // The archive without its directory.
      let end = try #require(ZIPDirectory(try InputFile(folder.path.appending(name)))).start
      let cut = try open(Array(bytes[..<end]))
      #expect(cut.isCut)
      for archive in [whole, cut] {
        #expect(archive.entries.count == 40)
        for (index, entry) in archive.entries.enumerated() {
          let content = try archive.content(of: entry, most: Self.most)
          #expect(content == [UInt8](repeating: 0, count: 50 * index))
        }
      }
    }
  }
}
