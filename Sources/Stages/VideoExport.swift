import Captures
import Codecs
import Parallel
import Pipeline
import Processing
import Storage
import Synchronization
import SystemPackage

/// Decodes a video in one thread at a time and converts, encodes and writes its pictures on all cores.
struct VideoExport: Sendable {
  private let context: StageContext
  private let color: ColorStream
  private let decoder: VideoDecoder
  private let selection: FrameSelection
  private let file: FilePath

  init(_ context: StageContext, _ color: ColorStream, file: FilePath, track: Int) throws {
    self.context = context
    self.color = color
    self.file = file
    let isBare = color.description.encoding == "h264-annexb"
    decoder = try VideoDecoder(
      file, container: isBare ? .annexB : .any, track: track,
      threads: Self.decodingThreads(workers: context.workers))
    selection = FrameSelection(
      every: context.parameters.integer("every") ?? 1,
      first: context.parameters.integer("first") ?? 0, last: context.parameters.integer("last"))
  }

  /// Decoding is up to half of the work on a picture, so that one thread of it feeds two to three cores;
  /// more only take memory then. Beyond, the decoder's own threads run while a worker waits for a
  /// picture; the stage's CPU time does not include them.
  private static func decodingThreads(workers: Int) -> Int { max(1, min(workers / 2, 8)) }

  /// One picture on its way from the decoder to a worker.
  private struct Item {
    var picture: DecodedPicture
    var frame: Int
  }

  private struct Scratch: ~Copyable {
    var writer: ColorWriter
    var converter: ColorConverter
    var rgb: [UInt8] = []
    var file: [UInt8] = []
  }

  func run() throws -> StageResult {
    let numbering = Mutex(
      PictureNumbering(frameOfPicture: color.frameOfPicture, ticks: color.ticksOfPicture))
    let written = Atomic<Int>(0)
    context.progress.expect(color.description.frames ?? 0)
    try pullFrames(
      workers: context.workers, budget: context.budget, precedence: .first,
      makeScratch: {
        Scratch(
          writer: try ColorWriter(context.parameters),
          converter: ColorConverter(parameters: context.parameters))
      },
      next: { (_: inout Scratch) throws -> Item? in try nextWanted(numbering) },
      work: { (item: Item, scratch: inout Scratch) throws -> Void in
        let picture = item.picture
        try picture.rgb(into: &scratch.rgb, converter: &scratch.converter)
        try scratch.writer.encode(
          rgb: scratch.rgb, width: picture.width, height: picture.height, into: &scratch.file)
        try context.staging.write(
          scratch.file, as: FrameFileName.name(item.frame, scratch.writer.ending))
        written.add(1, ordering: .relaxed)
      })
    warnOfLosses()
    return StageResult(frames: written.load(ordering: .relaxed))
  }

  private func nextWanted(_ numbering: borrowing Mutex<PictureNumbering>) throws -> Item? {
    while true {
      try context.cancellation.check()
      guard let picture = try decoder.next() else { return nil }
      context.progress.advance()
      let frame = numbering.withLock { $0.frame(ofPictureAt: picture.presentationTicks) }
      guard let frame else { continue }
      if selection.isOver(at: frame), color.frameOfPicture == nil { return nil }
      if selection.contains(frame) { return Item(picture: picture, frame: frame) }
    }
  }

  /// Pictures that were counted in the file and did not come out of the decoder.
  private func warnOfLosses() {
    guard selection.last == nil, let counted = color.description.frames else { return }
    let missing = counted - decoder.counts.pictures
    context.warnings.add(
      .corruptRecord, "color", count: missing,
      "\(file.lastComponent?.string ?? "video"): \(missing) of \(counted) pictures cannot be decoded"
    )
  }
}
