import Captures
import Core
import Engine
import Synchronization

/// Writes a picture stream as a frame store, chunk by chunk on all cores.
///
/// One worker decodes, digests and writes a chunk; if the stream must be read in order, workers
/// decode in turn. Memory: one chunk (at most about 4 MiB) per core.
struct FrameStoreWriter {
  /// Path in the staging folder: empty, or a name with a trailing `/`.
  let folder: String
  let stream: DepthStream
  let content: String
  /// Frame indices of the records of `stream` and the total number of frames; `nil` if record k is
  /// frame `firstFrame + k`.
  var chosen: (frames: [Int], frameCount: Int)?

  /// Writes the store. Returns the number of frames with a picture.
  func write(_ context: StageContext, tally: OutcomeTally) throws -> Int {
    let pixelCount = stream.width * stream.height
    let records = stream.access.recordCount
    var store = FrameStore(
      width: stream.width, height: stream.height, bytesPerElement: 2,
      frameCount: stream.firstFrame + records,
      framesPerChunk: FrameStore.usualFramesPerChunk(frameBytes: pixelCount * 2), content: content,
      holes: [])
    context.progress.expect(records)
    let planned = store
    let turn = try RecordTurn(of: stream.access, count: store.chunkCount)
    let holes = Mutex<[Int]>([])

    try pullFrames(
      workers: max(1, min(context.workers, store.chunkCount)), budget: context.budget,
      makeScratch: {
        ChunkScratch(
          pixelCount: pixelCount,
          // Of a short stream the pages of a whole chunk would be touched for nothing.
          framesPerChunk: min(planned.framesPerChunk, planned.placeCount))
      },
      next: { (scratch: inout ChunkScratch) throws -> Int? in
        try context.cancellation.check()
        return try turn.next { chunk, reader in
          if let reader {
            try decode(planned.frames(inChunk: chunk), &scratch, tally, context) {
              try reader.next(into: &$1)
            }
          }
          return chunk
        }
      },
      work: { (chunk: Int, scratch: inout ChunkScratch) throws -> Void in
        let frames = planned.frames(inChunk: chunk)
        if case .indexed(let source) = stream.access {
          try decode(frames, &scratch, tally, context) { try source.decode(record: $0, into: &$1) }
        }
        let missing = frames.filter { !scratch.hasPicture[$0 - frames.lowerBound] }
        holes.withLock { $0 += missing }
        let name = folder + FrameStore.chunkName(chunk)
        // Only the last chunk may be shorter than the buffer.
        if scratch.pixels.count == frames.count * pixelCount {
          try context.staging.write(elements: scratch.pixels, as: name)
        } else {
          let elements = Array(scratch.pixels[..<(frames.count * pixelCount)])
          try context.staging.write(elements: elements, as: name)
        }
      })
    store.holes = holes.withLock { $0.sorted() }
    let count = store.placeCount - store.holes.count
    if let chosen {
      store.holes = store.holes.map { chosen.frames[$0] }
      store.frames = chosen.frames
      store.frameCount = chosen.frameCount
    }
    try context.staging.write(
      JSONText.pretty(store), as: folder + FrameStore.headerName)
    return count
  }

  /// - Parameter read: decodes the record of a number; the numbers ascend by 1. `nil` after the last.
  private func decode(
    _ frames: Range<Int>, _ scratch: inout ChunkScratch, _ tally: OutcomeTally,
    _ context: StageContext, read: (Int, inout [UInt16]) throws -> RecordOutcome?
  ) throws {
    for frame in frames {
      try context.cancellation.check()
      guard frame >= stream.firstFrame,
        let outcome = try read(frame - stream.firstFrame, &scratch.frame)
      else {
        scratch.setHole(at: frame - frames.lowerBound)
        continue
      }
      tally.add(outcome, scratch.frame)
      scratch.take(outcome.hasPicture, at: frame - frames.lowerBound)
      context.progress.advance()
    }
  }
}

/// Hands out the records of a stream, or chunks of them, one by one, and with each the reader of an ordered stream.
/// Safe: the reader is used only under the lock.
final class RecordTurn<Pixel: BitwiseCopyable & Sendable>: @unchecked Sendable {
  private let count: Int
  private let reader: (any OrderedFrameReader<Pixel>)?
  private let position = Mutex(0)

  /// Opens an ordered stream at its first record.
  ///
  /// - Parameter count: how many records or chunks there are.
  init(of access: FrameAccess<Pixel>, count: Int) throws {
    self.count = count
    if case .ordered(let source) = access { reader = try source.makeReader() } else { reader = nil }
  }

  /// What `body` makes of the next number, while no other worker uses the reader; `nil` after the last.
  func next<Item: Sendable>(
    _ body: (Int, (any OrderedFrameReader<Pixel>)?) throws -> Item?
  ) throws -> Item? {
    try position.withLock { position in
      guard position < count else { return nil }
      defer { position += 1 }
      return try body(position, reader)
    }
  }
}

/// The buffers of one worker.
struct ChunkScratch {
  let pixelCount: Int
  /// One decoded frame.
  var frame: [UInt16]
  /// The frames of the chunk in order; zero where there is none.
  var pixels: [UInt16]
  var hasPicture: [Bool]

  init(pixelCount: Int, framesPerChunk: Int) {
    self.pixelCount = pixelCount
    frame = []
    pixels = Array(repeating: 0, count: pixelCount * framesPerChunk)
    hasPicture = Array(repeating: false, count: framesPerChunk)
  }

  mutating func take(_ isPicture: Bool, at position: Int) {
    guard isPicture, frame.count == pixelCount else { return setHole(at: position) }
    hasPicture[position] = true
    let start = position * pixelCount
    pixels.replaceSubrange(start..<(start + pixelCount), with: frame)
  }

  mutating func setHole(at position: Int) {
    hasPicture[position] = false
    let start = position * pixelCount
    for index in start..<(start + pixelCount) { pixels[index] = 0 }
  }
}

extension StageContext {
  /// Calls `work` for each of `frames` on all cores of the budget; at most one per core is in memory.
  func each<Scratch: ~Copyable>(
    _ frames: [Int], _ work: @Sendable (Int, inout Scratch) throws -> Void,
    makeScratch: @Sendable () throws -> Scratch
  ) throws {
    let turn = Atomic<Int>(0)
    try pullFrames(
      workers: workers, budget: budget, makeScratch: makeScratch,
      next: { _ in
        try cancellation.check()
        let index = turn.add(1, ordering: .relaxed).oldValue
        return index < frames.count ? frames[index] : nil
      },
      work: { frame, scratch in
        try work(frame, &scratch)
        progress.advance()
      })
  }
}
