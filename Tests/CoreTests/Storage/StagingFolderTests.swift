import FoundationEssentials
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Core

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

@Suite("Frame stores")
struct FrameStoreTests {
  static let store = FrameStore(
    width: 3, height: 2, bytesPerElement: 2, frameCount: 5, framesPerChunk: 2,
    content: "millimeters",
    holes: [1, 4])

  static func pixels(_ frame: Int) -> [UInt16] { (0..<6).map { UInt16(frame * 1000 + $0) } }

  /// Writes the store as a stage does.
  static func write(_ folder: TemporaryFolder, _ store: FrameStore = store) throws -> FilePath {
    let staging = try StagingFolder(at: folder.path.appending("store"))
    for chunk in 0..<store.chunkCount {
      let elements = store.frames(inChunk: chunk).flatMap {
        store.holes.contains($0) ? [UInt16](repeating: 0, count: 6) : pixels($0)
      }
      try staging.write(elements: elements, as: FrameStore.chunkName(chunk))
    }
    try staging.write(Array(try JSONEncoder().encode(store)), as: FrameStore.headerName)
    return staging.path
  }

  @Test("Frames come back as they were written, in any order; holes are known")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    let reader = try FrameStoreReader(try Self.write(folder))
    #expect(reader.store == Self.store)
    #expect((-1...5).filter(reader.hasPicture) == [0, 2, 3])
    for frame in [3, 0, 2] {
      let read = reader.withFrame(frame, as: UInt16.self) { span in
        span.indices.map { span[$0] }
      }
      #expect(read == Self.pixels(frame))
    }
  }

  @Test("A store of some frames has places for these alone")
  func someFrames() throws {
    let folder = try TemporaryFolder()
    var store = Self.store
    store.frameCount = 9
    store.frames = [1, 4, 8]
    store.holes = [4]
    #expect(store.chunkCount == 2)
    let staging = try StagingFolder(at: folder.path.appending("store"))
    for (chunk, frames) in [[1, 4], [8]].enumerated() {
      try staging.write(
        elements: frames.flatMap(Self.pixels), as: FrameStore.chunkName(chunk))
    }
    try staging.write(Array(try JSONEncoder().encode(store)), as: FrameStore.headerName)
    let reader = try FrameStoreReader(staging.path)
    #expect((-1...9).filter(reader.hasPicture) == [1, 8])
    let read = reader.withFrame(8, as: UInt16.self) { span in span.indices.map { span[$0] } }
    #expect(read == Self.pixels(8))
    let usual = try JSONEncoder().encode(Self.store)
    #expect(!String(decoding: usual, as: UTF8.self).contains("frames\""), "all frames: no such key")
    store.frames = [4, 1]
    try staging.folder.replace(
      FrameStore.headerName, with: Array(try JSONEncoder().encode(store)))
    #expect(throws: FileError.self) { try FrameStoreReader(staging.path) }
  }

  @Test("Chunks hold whole frames, the last one what is left")
  func chunks() {
    let store = Self.store
    #expect(store.chunkCount == 3)
    #expect((0..<3).map(store.frames(inChunk:)) == [0..<2, 2..<4, 4..<5])
    #expect(FrameStore.chunkName(0) == "chunk-0000.raw")
    #expect(FrameStore.chunkName(12_345) == "chunk-12345.raw")
    #expect(FrameStore.usualFramesPerChunk(frameBytes: 0) == 64)
    #expect(FrameStore.usualFramesPerChunk(frameBytes: 640 * 480 * 2) == 6)
    #expect(FrameStore.usualFramesPerChunk(frameBytes: 1 << 40) == 1)
  }

  @Test("A store without frames is read, and has none")
  func empty() throws {
    let folder = try TemporaryFolder()
    var store = Self.store
    store.frameCount = 0
    store.holes = []
    let reader = try FrameStoreReader(try Self.write(folder, store))
    #expect(!reader.hasPicture(0))
  }

  @Test(
    "A header with numbers that cannot be is refused",
    arguments: [
      { $0.width = 0 }, { $0.width = -1 }, { $0.width = .max }, { $0.height = .max },
      { $0.height = .min }, { $0.bytesPerElement = 0 }, { $0.bytesPerElement = .max },
      { $0.frameCount = -1 }, { $0.frameCount = .max }, { $0.framesPerChunk = 0 },
      { $0.framesPerChunk = -2 }, { $0.framesPerChunk = .max }, { $0.holes = [-1] },
      { $0.holes = [5] }, { $0.width = 4 }, { $0.frameCount = 6 }, { $0.frameCount = 7 },
      { $0.framesPerChunk = 3 }, { $0.frameCount = Int(Int32.max) },
    ] as [@Sendable (inout FrameStore) -> Void])
  func impossible(change: @Sendable (inout FrameStore) -> Void) throws {
    let folder = try TemporaryFolder()
    let path = try Self.write(folder)
    var store = Self.store
    change(&store)
    try folder.write(Array(try JSONEncoder().encode(store)), to: "store/store.json")
    let error = #expect(throws: FileError.self) { try FrameStoreReader(path) }
    #expect(error?.remedy != nil || error?.kind == .notFound)
  }

  @Test("A header cut at any byte, a chunk cut, longer or absent is refused")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let path = try Self.write(folder)
    let header = try folder.bytes(of: "store/store.json")
    for count in 0..<header.count {
      try folder.write(Array(header[..<count]), to: "store/store.json")
      #expect(throws: FileError.self) { try FrameStoreReader(path) }
    }
    try folder.write(header, to: "store/store.json")
    let chunk = try folder.bytes(of: "store/chunk-0001.raw")
    for damage in [[], Array(chunk.dropLast()), chunk + [0]] {
      try folder.write(damage, to: "store/chunk-0001.raw")
      let error = #expect(throws: FileError.self) { try FrameStoreReader(path) }
      #expect(error?.reason == "has \(damage.count) bytes, not 24")
    }
    try FileSystem.remove(path.appending("chunk-0001.raw"))
    let absent = #expect(throws: FileError.self) { try FrameStoreReader(path) }
    #expect(absent?.kind == .notFound)
  }
}
