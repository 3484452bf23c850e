import Captures
import Parallel
import Pipeline
import Storage
import Synchronization

/// Writes a picture stream as a frame store, chunk by chunk on all cores.
///
/// A chunk is decoded, filtered, digested and written by one worker; of a stream that must be read in
/// order, decoding is the part that workers do in turn. Memory: one chunk (about 8 MiB) per core.
struct FrameStoreWriter: Sendable {
  /// Where in the staging folder: empty, or a name with `/` at its end.
  let folder: String
  let stream: DepthStream
  let content: String
  let filter: DepthFilter?

  /// Returns how many frames have a picture.
  func write(_ context: StageContext, tally: OutcomeTally) throws -> Int {
    let pixelCount = stream.width * stream.height
    let records = stream.access.recordCount
    var store = FrameStore(
      width: stream.width, height: stream.height, bytesPerElement: 2,
      frameCount: stream.firstFrame + records,
      framesPerChunk: FrameStore.usualFramesPerChunk(frameBytes: pixelCount * 2), content: content,
      holes: [])
    context.progress.expect(records)
    let state = Mutex(ChunkTurn(store: store, reader: nil))
    if case .ordered(let source) = stream.access {
      let reader = try source.makeReader()
      state.withLock { $0.reader = DepthReaderBox(reader) }
    }
    let holes = Mutex<[Int]>([])

    try pullFrames(
      workers: context.workers, budget: context.budget,
      makeScratch: { ChunkScratch(pixelCount: pixelCount, framesPerChunk: store.framesPerChunk) },
      next: { scratch in
        try context.cancellation.check()
        return try state.withLock { turn in
          guard turn.next < turn.store.chunkCount else { return nil }
          let chunk = turn.next
          turn.next += 1
          if let reader = turn.reader {
            try decodeInOrder(turn.store.frames(inChunk: chunk), reader, &scratch, tally, context)
          }
          return chunk
        }
      },
      work: { chunk, scratch in
        let frames = store.frames(inChunk: chunk)
        if case .indexed(let source) = stream.access {
          try decode(frames, source, &scratch, tally, context)
        }
        try filter?.apply(to: &scratch, frames: frames, stream: stream)
        let missing = frames.filter { !scratch.hasPicture[$0 - frames.lowerBound] }
        holes.withLock { $0 += missing }
        let elements = Array(scratch.pixels[..<(frames.count * pixelCount)])
        try context.staging.write(elements: elements, as: folder + FrameStore.chunkName(chunk))
      })
    store.holes = holes.withLock { $0.sorted() }
    try context.staging.write(
      JSONText.pretty(store), as: folder + FrameStore.headerName)
    return store.frameCount - store.holes.count
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
      tally.add(outcome)
      scratch.take(outcome.hasPicture, at: frame - frames.lowerBound)
      context.progress.advance()
    }
  }

  private func decodeInOrder(
    _ frames: Range<Int>, _ reader: DepthReaderBox, _ scratch: inout ChunkScratch,
    _ tally: OutcomeTally, _ context: StageContext
  ) throws {
    for frame in frames {
      guard frame >= stream.firstFrame, let outcome = try reader.reader.next(into: &scratch.frame)
      else {
        scratch.setHole(at: frame - frames.lowerBound)
        continue
      }
      tally.add(outcome)
      scratch.take(outcome.hasPicture, at: frame - frames.lowerBound)
      context.progress.advance()
    }
  }
}

/// Which chunk is next, and where the ordered stream stands.
private struct ChunkTurn {
  var store: FrameStore
  var next = 0
  var reader: DepthReaderBox?

  init(store: FrameStore, reader: DepthReaderBox?) {
    self.store = store
    self.reader = reader
  }
}

/// A reader that only the holder of the turn touches.
private final class DepthReaderBox: @unchecked Sendable {
  // Safe: used under the lock of the turn it is part of.
  let reader: any OrderedFrameReader<UInt16>

  init(_ reader: any OrderedFrameReader<UInt16>) {
    self.reader = reader
  }
}

/// The buffers of one worker.
struct ChunkScratch {
  let pixelCount: Int
  /// One decoded frame.
  var frame: [UInt16]
  /// The frames of the chunk, one after the other; zero where there is none.
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
