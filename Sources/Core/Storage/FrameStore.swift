import FoundationEssentials
import SystemPackage

/// Raw frames on disk, read with `mmap`: without decoding, in any order, by any number of readers.
///
/// Layout of the folder: `store.json` (this value) and `chunk-0000.raw`, …, each with
/// `framesPerChunk` frames of `width` × `height` little-endian elements; the last one may be
/// shorter. Missing frames are zero bytes in the chunk and listed in `holes`. Chunks limit a
/// writer's memory and allow parallel writing and digesting.
public struct FrameStore: Hashable, Sendable, Codable {
  public var width: Int
  public var height: Int
  var bytesPerElement: Int
  public var frameCount: Int
  public var framesPerChunk: Int
  /// The meaning of an element: `millimeters`, `confidence`, `shift`.
  public var content: String
  /// Frames without picture, ascending.
  public var holes: [Int]
  /// The frames that have a place in the chunks, ascending; `nil` for all. The others have no
  /// picture.
  public var frames: [Int]?

  public init(
    width: Int, height: Int, bytesPerElement: Int, frameCount: Int, framesPerChunk: Int,
    content: String, holes: [Int]
  ) {
    self.width = width
    self.height = height
    self.bytesPerElement = bytesPerElement
    self.frameCount = frameCount
    self.framesPerChunk = framesPerChunk
    self.content = content
    self.holes = holes
  }

  public static let headerName = "store.json"

  var frameBytes: Int { width * height * bytesPerElement }
  /// Number of frames with a place in the chunks.
  public var placeCount: Int { frames?.count ?? frameCount }
  public var chunkCount: Int { (placeCount + framesPerChunk - 1) / max(framesPerChunk, 1) }

  /// The frames of chunk `index`. If `frames` is set, these are positions in it.
  public func frames(inChunk index: Int) -> Range<Int> {
    (index * framesPerChunk)..<min((index + 1) * framesPerChunk, placeCount)
  }

  public static func chunkName(_ index: Int) -> String {
    "chunk-" + index.padded(4) + ".raw"
  }

  /// Whether the numbers of a decoded header are valid: in range, and small enough that no product
  /// of them overflows.
  var isSound: Bool {
    (1...(1 << 20)).contains(width) && (1...(1 << 20)).contains(height)
      && (1...8).contains(bytesPerElement) && (0...Int(Int32.max)).contains(frameCount)
      && (1...(1 << 16)).contains(framesPerChunk)
      && holes.allSatisfy { (0..<frameCount).contains($0) }
      && (frames ?? []).allSatisfy { (0..<frameCount).contains($0) }
      && zip(frames ?? [], (frames ?? []).dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The usual number of frames of `frameBytes` in a chunk: about 4 MiB, 1 to 64 frames.
  public static func usualFramesPerChunk(frameBytes: Int) -> Int {
    max(1, min(64, (4 << 20) / max(frameBytes, 1)))
  }
}

/// The frames of a published store.
public final class FrameStoreReader: Sendable {
  public let store: FrameStore
  private let chunks: [MappedFile]
  private let holes: Set<Int>
  /// The place of each frame in the chunks; `nil` if all frames have one.
  private let places: [Int: Int]?

  /// Maps the store in `folder`. Throws if the size of a chunk differs from the header.
  public init(_ folder: FilePath) throws(FileError) {
    let header = folder.appending(FrameStore.headerName)
    let bytes = try MappedFile(header).withBytes { $0.withUnsafeBytes { Data($0) } }
    guard let store = try? FrameStore(json: bytes),
      store.isSound
    else {
      throw FileError(
        kind: .other, path: header, operation: "read", reason: "not the header of a frame store",
        remedy: "run the stage again with --forcerun")
    }
    var chunks: [MappedFile] = []
    for index in 0..<store.chunkCount {
      let chunk = try MappedFile(folder.appending(FrameStore.chunkName(index)))
      guard chunk.count == store.frames(inChunk: index).count * store.frameBytes else {
        throw FileError(
          kind: .other, path: chunk.path, operation: "map",
          reason:
            "has \(chunk.count) bytes, not \(store.frames(inChunk: index).count * store.frameBytes)",
          remedy: "run the stage again with --forcerun")
      }
      chunks.append(chunk)
    }
    self.store = store
    self.chunks = chunks
    holes = Set(store.holes)
    places = store.frames.map { frames in
      Dictionary(firstOf: frames.enumerated().map { ($0.element, $0.offset) })
    }
  }

  /// Whether frame `index` exists and has a picture.
  public func hasPicture(_ index: Int) -> Bool {
    index >= 0 && index < store.frameCount && !holes.contains(index)
      && places.map { $0[index] != nil } ?? true
  }

  /// Passes the elements of frame `index` in the mapped file to `body`. The frame must have a
  /// picture.
  public func withFrame<Element: BitwiseCopyable, Result>(
    _ index: Int, as type: Element.Type, _ body: (Span<Element>) throws -> Result
  ) rethrows -> Result {
    let place = places?[index] ?? index
    let chunk = place / store.framesPerChunk
    let start = (place % store.framesPerChunk) * store.frameBytes
    // Pages that were read would otherwise count as memory in use.
    defer { chunks[chunk].didRead(bytes: store.frameBytes) }
    return try chunks[chunk].withBytes(in: start..<(start + store.frameBytes)) { bytes in
      try bytes.withUnsafeBytes { try body(Span(_unsafeBytes: $0)) }
    }
  }
}
