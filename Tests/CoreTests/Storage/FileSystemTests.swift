import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("File system steps")
struct FileSystemTests {
  @Test("Removing never follows a link")
  func remove() throws {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("keep"))
    try FileSystem.makeFolder(folder.path.appending("go/deep/er"))
    try folder.write([1], to: "keep/file")
    try folder.write([1], to: "go/deep/file")
    try folder.link("go/link", to: "../keep")
    try folder.link("go/dangling", to: "nowhere")
    try FileSystem.remove(folder.path.appending("go"))
    #expect(try FileSystem.names(in: folder.path) == ["keep"])
    #expect(try FileSystem.names(in: folder.path.appending("keep")) == ["file"])
    try FileSystem.remove(folder.path.appending("absent"))
    try FileSystem.remove(folder.path.appending("keep/file"))
    #expect(try FileSystem.names(in: folder.path.appending("keep")) == [])
  }

  @Test("The size of a folder counts files at any depth and links, and nothing behind these")
  func size() throws {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("all/deep/er"))
    try folder.write([1, 2, 3], to: "all/deep/er/file")
    try folder.write([1, 2], to: "all/file")
    try folder.link("all/deep/link", to: "../file")
    try folder.link("link", to: "all")
    let sizes = ["all", "all/file", "link", "absent"].map {
      FolderSize(of: folder.path.appending($0))
    }
    #expect(sizes.map(\.files) == [3, 1, 1, 0])
    #expect(sizes.map(\.bytes) == [12, 2, 3, 0])
  }

  @Test("A folder is made with all above it, through links too; a file in the way is an error")
  func makeFolder() throws {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("a/b/c"))
    try FileSystem.makeFolder(folder.path.appending("a/b/c"))
    try folder.link("link", to: "a")
    try FileSystem.makeFolder(folder.path.appending("link/d"))
    #expect(FileSystem.isFolder(folder.path.appending("a/d")))
    try folder.write([], to: "file")
    #expect(throws: FileError.self) { try FileSystem.makeFolder(folder.path.appending("file")) }
    #expect(throws: FileError.self) { try FileSystem.makeFolder(folder.path.appending("file/x")) }
  }

  @Test("Exchanging swaps two names, also a folder with a link")
  func exchange() throws {
    let folder = try TemporaryFolder()
    let held = try HeldFolder.following(folder.path)
    try FileSystem.makeFolder(folder.path.appending("a"))
    try folder.write([1], to: "a/one")
    try folder.link("b", to: "elsewhere")
    guard try held.exchange("a", with: held, "b") else {
      print("note: this file system cannot exchange two paths")
      return
    }
    #expect(FileSystem.isLink(folder.path.appending("a")))
    #expect(try FileSystem.names(in: folder.path.appending("b")) == ["one"])
    #expect(throws: FileError.self) { try held.exchange("a", with: held, "absent") }
  }

  @Test("A rename to a name that is taken is refused, not carried out")
  func renameNew() throws {
    let folder = try TemporaryFolder()
    let held = try HeldFolder.following(folder.path)
    try folder.write([1], to: "a")
    try folder.write([2], to: "b")
    #expect(throws: FileError.self) { try held.renameNew("a", to: held, as: "b") }
    #expect(try folder.bytes(of: "b") == [2])
    try held.renameNew("a", to: held, as: "c")
    #expect(try folder.bytes(of: "c") == [1])
  }

  @Test("A file is replaced in one step; nothing is left beside it, also after a failure")
  func replace() throws {
    let folder = try TemporaryFolder()
    let held = try HeldFolder.following(folder.path)
    try held.replace("file", with: [1, 2, 3])
    try held.replace("file", with: [4])
    #expect(try folder.bytes(of: "file") == [4])
    try FileSystem.makeFolder(folder.path.appending("folder"))
    #expect(throws: FileError.self) { try held.replace("folder", with: [1]) }
    #expect(try FileSystem.names(in: folder.path) == ["file", "folder"])
  }

  @Test("Writing cuts what was there")
  func write() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([1, 2, 3, 4], to: "file")
    try OutputFile.write([9], to: path, durably: true)
    #expect(try folder.bytes(of: "file") == [9])
    let error = #expect(throws: FileError.self) {
      try OutputFile.write([1], to: folder.path.appending("no/such/folder"))
    }
    #expect(error?.kind == .notFound)
  }

  @Test("Flushing and free space work on a folder that is there")
  func flush() throws {
    let folder = try TemporaryFolder()
    try HeldFolder.following(folder.path).flushFileSystem()
    #expect(throws: FileError.self) {
      try HeldFolder.following(folder.path.appending("absent")).flushFileSystem()
    }
    let space = try FileSystemSpace(at: folder.path)
    #expect(space.freeBytes > 0 && space.freeBytes <= space.totalBytes)
    #expect((space.freeFiles ?? 0) <= (space.totalFiles ?? 0))
    #expect(throws: Errno.noSuchFileOrDirectory) {
      try FileSystemSpace(at: folder.path.appending("absent"))
    }
  }

  @Test("Identity tells files apart and shows a change of size; folders have none")
  func identity() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([1], to: "a")
    let before = try FileIdentity(of: path)
    #expect(try FileIdentity(of: path) == before)
    try folder.link("link", to: "a")
    #expect(try FileIdentity(of: folder.path.appending("link")) == before)
    #expect(try FileIdentity(of: try folder.write([1], to: "b")) != before)
    try folder.write([1, 2], to: "a")
    #expect(try FileIdentity(of: path) != before)
    #expect(throws: FileError.self) { try FileIdentity(of: folder.path) }
  }

  @Test(
    "System errors have a kind, and the remedy where there is one",
    arguments: [
      (.noSuchFileOrDirectory, .notFound, false), (.notDirectory, .notFound, false),
      (.permissionDenied, .permission, true), (.notPermitted, .permission, true),
      (.noSpace, .noSpace, true), (.diskQuotaExceeded, .noSpace, true),
      (.readOnlyFileSystem, .readOnly, true), (.ioError, .temporary, false),
      (.staleNFSFileHandle, .temporary, false), (.tooManyOpenFiles, .exhausted, true),
      (.noMemory, .exhausted, true), (.resourceTemporarilyUnavailable, .exhausted, true),
      (.isDirectory, .other, false), (.invalidArgument, .other, false),
    ] as [(Errno, FileError.Kind, Bool)])
  func kinds(errno: Errno, kind: FileError.Kind, hasRemedy: Bool) {
    let error = FileError(errno, path: "/x", operation: "write")
    #expect(error.kind == kind)
    #expect(error.code == errno && error.isWriting)
    #expect(!FileError(errno, path: "/x", operation: "read").isWriting)
    #expect(error.description.hasPrefix("/x: cannot be written: "))
    #expect((error.remedy != nil) == hasRemedy)
  }
}

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
