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
    let turn = ChunkTurn(store: store)
    if case .ordered(let source) = stream.access { turn.open(try source.makeReader()) }
    let holes = Mutex<[Int]>([])

    try pullFrames(
      workers: min(context.workers, store.chunkCount), budget: context.budget,
      makeScratch: {
        ChunkScratch(
          pixelCount: pixelCount,
          // Of a short stream the pages of a whole chunk would be touched for nothing.
          framesPerChunk: min(turn.store.framesPerChunk, turn.store.placeCount))
      },
      next: { (scratch: inout ChunkScratch) throws -> Int? in
        try context.cancellation.check()
        return try turn.next { chunk, reader in
          guard let reader else { return }
          let frames = turn.store.frames(inChunk: chunk)
          try decodeInOrder(frames, reader, &scratch, tally, context)
        }
      },
      work: { (chunk: Int, scratch: inout ChunkScratch) throws -> Void in
        let frames = turn.store.frames(inChunk: chunk)
        if case .indexed(let source) = stream.access {
          try decode(frames, source, &scratch, tally, context)
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

  private func decode(
    _ frames: Range<Int>, _ source: any IndexedFrameSource<UInt16>, _ scratch: inout ChunkScratch,
    _ tally: OutcomeTally, _ context: StageContext
  ) throws {
    for frame in frames {
      let record = frame - stream.firstFrame
      guard record >= 0 else {
        scratch.setHole(at: frame - frames.lowerBound)
        continue
      }
      try context.cancellation.check()
      let outcome = try source.decode(record: record, into: &scratch.frame)
      tally.add(outcome, scratch.frame)
      scratch.take(outcome.hasPicture, at: frame - frames.lowerBound)
      context.progress.advance()
    }
  }

  private func decodeInOrder(
    _ frames: Range<Int>, _ reader: any OrderedFrameReader<UInt16>, _ scratch: inout ChunkScratch,
    _ tally: OutcomeTally, _ context: StageContext
  ) throws {
    for frame in frames {
      guard frame >= stream.firstFrame, let outcome = try reader.next(into: &scratch.frame)
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

/// The next chunk, and the position in an ordered stream.
private final class ChunkTurn: Sendable {
  let store: FrameStore
  private let state = Mutex<State>(State())

  private struct State {
    var next = 0
    var reader: LockedReader<UInt16>?
  }

  init(store: FrameStore) {
    self.store = store
  }

  func open(_ reader: any OrderedFrameReader<UInt16>) {
    let box = LockedReader(reader)
    state.withLock { $0.reader = box }
  }

  /// The next chunk; `nil` after the last. `body` reads it while no other worker may.
  func next(_ body: (Int, (any OrderedFrameReader<UInt16>)?) throws -> Void) throws -> Int? {
    try state.withLock { state in
      guard state.next < store.chunkCount else { return nil }
      let chunk = state.next
      state.next += 1
      try body(chunk, state.reader?.reader)
      return chunk
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
