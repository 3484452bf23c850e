import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
