import FoundationEssentials
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Staging folders")
struct StagingFolderTests {
  static func staging(_ folder: TemporaryFolder) throws -> StagingFolder {
    try StagingFolder(at: folder.path.appending("staging/stage.run"))
  }

  @Test("What is written is listed with length and digest, sorted by path")
  func listed() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    try staging.write([3, 4], as: "b/c/d.bin")
    try staging.write([], as: "a.bin")
    let file = try staging.create("b//e.bin")
    try file.append([1])
    try file.append([2, 3])
    #expect(staging.outputs.map(\.path) == ["a.bin", "b/c/d.bin"])
    try file.finish()
    try file.finish()
    try staging.write(elements: [0x0102, 0x0304] as [UInt16], as: "raw.bin")
    #expect(
      staging.outputs == [
        OutputEntry(path: "a.bin", bytes: 0, sha256: Digest(of: [])),
        OutputEntry(path: "b/c/d.bin", bytes: 2, sha256: Digest(of: [3, 4])),
        OutputEntry(path: "b/e.bin", bytes: 3, sha256: Digest(of: [1, 2, 3])),
        OutputEntry(path: "raw.bin", bytes: 4, sha256: Digest(of: [2, 1, 4, 3])),
      ])
    #expect(staging.bytesWritten == 9)
    #expect(try folder.bytes(of: "staging/stage.run/b/e.bin") == [1, 2, 3])
  }

  @Test("It starts empty, whatever an earlier attempt left")
  func empty() throws {
    let folder = try TemporaryFolder()
    try Self.staging(folder).write([1], as: "old/file")
    let staging = try Self.staging(folder)
    #expect(staging.outputs.isEmpty)
    #expect(try FileSystem.names(in: staging.path) == [])
  }

  @Test(
    "Names that lead out of it, or are not one's own, are refused",
    arguments: [
      "", "/", "/etc/x", "..", "../x", "a/../../x", "a/../b", ".", "./a", "a/./b", "artifact.json",
      "//artifact.json",
    ])
  func refused(name: String) throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    #expect(throws: FileError.self) { try staging.write([1], as: name) }
    #expect(throws: FileError.self) { try staging.create(name) }
    #expect(throws: FileError.self) { try staging.adopt(name) }
    #expect(staging.outputs.isEmpty)
    #expect(try FileSystem.names(in: folder.path) == ["staging"])
    #expect(try FileSystem.names(in: staging.path) == [])
  }

  @Test("artifact.json is anybody's name in a folder below")
  func reserved() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    try staging.write([1], as: "inner/artifact.json")
    #expect(staging.outputs.map(\.path) == ["inner/artifact.json"])
  }

  @Test("A name is used once, in any spelling")
  func twice() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    try staging.write([1], as: "a/b")
    let error = #expect(throws: FileError.self) { try staging.write([2], as: "a//b") }
    #expect(error?.description == "a/b: cannot be written: is written twice")
    #expect(try folder.bytes(of: "staging/stage.run/a/b") == [1])
  }

  @Test("Files of others are taken over with their digest; links are not")
  func adopt() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    try folder.write([7], to: "outside")
    try folder.write([1, 2], to: "staging/stage.run/made")
    try folder.link("staging/stage.run/link", to: "../../outside")
    try folder.link("staging/stage.run/folder", to: "../..")
    try staging.adopt("made")
    for name in ["link", "folder/outside"] {
      let error = #expect(throws: FileError.self) { try staging.adopt(name) }
      #expect(error?.reason == "is a symbolic link")
    }
    #expect(throws: FileError.self) { try staging.adopt("absent") }
    #expect(
      staging.outputs == [OutputEntry(path: "made", bytes: 2, sha256: Digest(of: [1, 2]))])
  }

  @Test("Many threads write at the same time; the digest is that of one thread")
  func concurrent() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    let failures = Mutex(0)
    DispatchLoop.run(64) { index in
      do {
        try staging.write([UInt8](repeating: UInt8(index), count: index * 37), as: "f/\(index)")
        let file = try staging.create("g/\(index)")
        for byte in 0..<UInt8(index) { try file.append([byte]) }
        try file.finish()
      } catch {
        failures.withLock { $0 += 1 }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    let single = try StagingFolder(at: folder.path.appending("single"))
    for index in (0..<64).reversed() {
      try single.write([UInt8](repeating: UInt8(index), count: index * 37), as: "f/\(index)")
      try single.write(Array(0..<UInt8(index)), as: "g/\(index)")
    }
    #expect(staging.outputs.digest == single.outputs.digest)
    #expect(staging.bytesWritten == single.bytesWritten)
  }

  @Test("A full disk is told as such, with the remedy")
  func full() throws {
    let folder = try TemporaryFolder()
    let staging = try Self.staging(folder)
    StorageFaults.set(below: staging.path) { step, _ in step == .write ? .noSpace : nil }
    defer { StorageFaults.set(below: staging.path, nil) }
    let error = #expect(throws: FileError.self) { try staging.write([1], as: "full") }
    #expect(error?.kind == .noSpace)
    #expect(error?.code == .noSpace && error?.isWriting == true)
    #expect(error?.remedy?.contains("free some space") == true)
    let file = try staging.create("piecewise")
    #expect(throws: FileError.self) { try file.append([1, 2, 3]) }
    #expect(staging.outputs.isEmpty)
  }
}
