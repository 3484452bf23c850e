@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Files shared between artifacts")
struct FileSharingTests {
  /// An artifact with one file, a staging folder beside it, and the file's entry.
  private struct Scene {
    let folder: TemporaryFolder
    let source: FilePath
    let staging: StagingFolder
    let entry: OutputEntry

    init(_ bytes: [UInt8] = [1, 2, 3]) throws {
      folder = try TemporaryFolder()
      source = try folder.write(bytes, to: "000001.png")
      staging = try StagingFolder(at: folder.path.appending("staging/export"))
      entry = OutputEntry(
        path: "000001.png", bytes: Int64(bytes.count), sha256: Digest(of: bytes))
    }

    func share(_ ways: [FileSharing], as name: String = "rgb/a.png") throws -> FileSharing {
      try staging.share(source, entry, as: name, by: ways)
    }

    func bytes(_ name: String = "rgb/a.png") throws -> [UInt8] {
      try folder.bytes(of: "staging/export/" + name)
    }

    /// Inode numbers of the original and of what was shared.
    func inodes(_ name: String = "rgb/a.png") -> (UInt, UInt) {
      var (a, b) = (stat(), stat())
      _ = stat(source.string, &a)
      _ = stat(staging.path.appending("rgb/a.png").string, &b)
      return (UInt(a.st_ino), UInt(b.st_ino))
    }
  }

  @Test("A link is the same file, a copy is another; both have the recorded digest")
  func linkAndCopy() throws {
    for way in [FileSharing.link, .copy] {
      let scene = try Scene()
      #expect(try scene.share([way]) == way)
      #expect(try scene.bytes() == [1, 2, 3])
      let (original, shared) = scene.inodes()
      #expect((original == shared) == (way == .link))
      #expect(
        scene.staging.outputs == [
          OutputEntry(path: "rgb/a.png", bytes: 3, sha256: Digest(of: [1, 2, 3]))
        ])
      #expect(scene.staging.bytesWritten == 3)
      try scene.staging.check(scene.staging.outputs)
    }
  }

  @Test("A clone is another file with the same bytes, or is refused and leaves nothing")
  func clone() throws {
    let scene = try Scene()
    do {
      #expect(try scene.share([.clone]) == .clone)
      #expect(try scene.bytes() == [1, 2, 3])
      let (original, shared) = scene.inodes()
      #expect(original != shared)
    } catch let error as FileError {
      // A file system without shared blocks.
      #expect(error.operation == "clone")
      #expect(try FileSystem.names(in: scene.staging.path.appending("rgb")) == [])
      #expect(scene.staging.outputs.isEmpty)
    }
  }

  @Test("All ways give equal digests, also for an empty file and one above a megabyte")
  func equalDigests() throws {
    for bytes in [[], [7], [UInt8](repeating: 9, count: 3 << 20)] as [[UInt8]] {
      var digests: Set<Digest> = []
      for ways in [[.link], [.copy], [.clone, .link, .copy]] as [[FileSharing]] {
        let scene = try Scene(bytes)
        _ = try scene.share(ways)
        #expect(try scene.bytes() == bytes)
        digests.insert(scene.staging.outputs.digest)
      }
      #expect(digests.count == 1)
    }
  }

  @Test(
    "What refuses a link is copied: another device, too many links, a file system without them",
    arguments: [Errno.improperLink, .tooManyLinks, .notPermitted, .notSupported])
  func linkRefused(reason: Errno) throws {
    let scene = try Scene()
    let steps = Mutex(0)
    StorageFaults.set(below: scene.staging.path) { step, _ in
      guard step == .create else { return nil }
      return steps.withLock { count in
        count += 1
        return count == 1 ? reason : nil
      }
    }
    defer { StorageFaults.set(below: scene.staging.path, nil) }
    #expect(try scene.share([.link, .copy]) == .copy)
    #expect(try scene.bytes() == [1, 2, 3])
    let (original, shared) = scene.inodes()
    #expect(original != shared)
  }

  @Test("Where the one way that was asked for is refused, it fails and leaves nothing")
  func onlyWayRefused() throws {
    let scene = try Scene()
    StorageFaults.set(below: scene.staging.path) { step, _ in
      step == .create ? .improperLink : nil
    }
    defer { StorageFaults.set(below: scene.staging.path, nil) }
    let error = #expect(throws: FileError.self) { try scene.share([.link]) }
    #expect(error?.operation == "link")
    #expect(scene.staging.outputs.isEmpty)
    #expect(try FileSystem.names(in: scene.staging.path.appending("rgb")) == [])
  }

  @Test("A full disk is one for every way: nothing else is tried, nothing stays")
  func fullDisk() throws {
    let scene = try Scene()
    let asked = Mutex<[StorageFaults.Step]>([])
    StorageFaults.set(below: scene.staging.path) { step, _ in
      guard step == .create || step == .write else { return nil }
      asked.withLock { $0.append(step) }
      return step == .create ? .noSpace : nil
    }
    let error = #expect(throws: FileError.self) { try scene.share([.link, .copy]) }
    #expect(error?.kind == .noSpace)
    #expect(asked.withLock { $0 } == [.create])
    StorageFaults.set(below: scene.staging.path) { step, _ in step == .write ? .noSpace : nil }
    defer { StorageFaults.set(below: scene.staging.path, nil) }
    let late = #expect(throws: FileError.self) { try scene.share([.copy], as: "rgb/b.png") }
    #expect(late?.kind == .noSpace)
    #expect(try FileSystem.names(in: scene.staging.path.appending("rgb")) == [])
    #expect(scene.staging.outputs.isEmpty)
  }

  @Test("A file that is longer or shorter than its record says is refused in every way")
  func altered() throws {
    for bytes in [[1, 2], [1, 2, 3, 4], []] as [[UInt8]] {
      for way in FileSharing.allCases {
        let scene = try Scene()
        try scene.folder.write(bytes, to: "000001.png")
        let error = #expect(throws: FileError.self) { try scene.share([way]) }
        #expect(error?.kind == .changedWhileReading)
        #expect(error?.reason == "has \(bytes.count) bytes, its artifact says 3")
        #expect(scene.staging.outputs.isEmpty)
      }
    }
  }

  @Test("A symbolic link, a folder and a missing file are refused in every way")
  func notAFile() throws {
    for way in FileSharing.allCases {
      let scene = try Scene()
      try scene.folder.link("link.png", to: "000001.png")
      for name in ["link.png", "staging", "absent.png"] {
        #expect(throws: FileError.self, "\(name), \(way)") {
          try scene.staging.share(
            scene.folder.path.appending(name), scene.entry, as: "rgb/\(name)", by: [way])
        }
      }
      #expect(scene.staging.outputs.isEmpty)
      #expect(try FileSystem.names(in: scene.staging.path.appending("rgb")) == [])
    }
  }

  @Test("The digest is the record's, not computed: a file altered in place keeps it")
  func digestIsTakenOver() throws {
    for way in [FileSharing.link, .copy] {
      let scene = try Scene()
      try scene.folder.write([3, 2, 1], to: "000001.png")
      _ = try scene.share([way])
      #expect(scene.staging.outputs.map(\.sha256) == [Digest(of: [1, 2, 3])])
      // What is there is what was altered: `--verify` tells.
      #expect(try scene.bytes() == [3, 2, 1])
    }
  }

  @Test("A name is given once, and never leads out of the folder")
  func names() throws {
    let scene = try Scene()
    _ = try scene.share([.copy], as: "a.png")
    for name in ["a.png", "../a.png", "/tmp/a.png", "artifact.json", ""] {
      #expect(throws: FileError.self, "\(name)") { try scene.share([.copy], as: name) }
    }
    #expect(scene.staging.outputs.map(\.path) == ["a.png"])
  }

  @Test("No way at all is an error")
  func noWay() throws {
    #expect(throws: FileError.self) { try Scene().share([]) }
  }
}
