import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
    try FileSystem.syncFileSystem(of: folder.path)
    #expect(throws: FileError.self) {
      try FileSystem.syncFileSystem(of: folder.path.appending("absent"))
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
