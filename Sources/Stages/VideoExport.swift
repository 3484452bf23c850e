import Captures
import Codecs
import Parallel
import Pipeline
import Processing
import Storage
import Synchronization
import SystemPackage

/// Decodes a video for one worker at a time and converts, encodes and writes its pictures on all cores.
struct VideoExport: Sendable {
  private let context: StageContext
  private let color: ColorStream
  private let feed: SharedVideoDecoder
  private let selection: FrameSelection
  private let file: FilePath
  /// What is done with a picture in place of writing it.
  private let look: PictureLook?

  /// - Parameters:
  ///   - selection: frames that are wanted.
  ///   - look: called by any thread for each wanted picture, which is not written then.
  init(
    _ context: StageContext, _ color: ColorStream, file: FilePath, track: Int,
    _ selection: FrameSelection, look: PictureLook? = nil
  ) throws {
    self.context = context
    self.color = color
    self.file = file
    self.selection = selection
    self.look = look
    feed = try SharedVideoDecoder(
      context, color, file: file, track: track,
      workNanosecondsPerPixel: DecodingThreads.workNanosecondsPerPixel(
        format: context.parameters.text("format"),
        compression: context.parameters.text("compression")))
  }

  /// How many decoded pictures may wait for a worker.
  static let ahead = 1

  /// One picture on its way from the decoder to a worker.
  private struct Item: Sendable {
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
    let ledger = Mutex(
      PictureAccounting(
        counted: color.order?.count ?? color.description.frames ?? 0,
        frameOfPicture: color.frameOfPicture, selection: selection,
        width: color.description.width, height: color.description.height))
    let written = Atomic<Int>(0)
    context.progress.expect(color.description.frames ?? 0)
    try pullFrames(
      workers: context.workers, ahead: Self.ahead, budget: context.budget, precedence: .first,
      makeScratch: {
        Scratch(
          writer: try ColorWriter(context.parameters),
          converter: ColorConverter(parameters: context.parameters))
      },
      next: { (_: inout Scratch) throws -> Item? in try nextWanted(ledger) },
      work: { (item: Item, scratch: inout Scratch) throws -> Void in
        try feed.work { try write(item, &scratch) }
        written.add(1, ordering: .relaxed)
      })
    let frames = written.load(ordering: .relaxed)
    let file = file.shownName
    try ledger.withLock { ledger in
      ledger.report(
        file, settings: context.parameters.settings(FrameSelection.parameterNames),
        to: context.warnings)
      try ledger.check(written: frames, feed.counts, of: file)
    }
    var result = StageResult(frames: frames)
    let holes = ledger.withLock { $0.holes.count }
    result.record(holes: holes, of: frames + holes, in: "color")
    result.externalCPUSeconds = feed.threadCPUSeconds
    return result
  }

  private func write(_ item: Item, _ scratch: inout Scratch) throws {
    let picture = item.picture
    try picture.rgb(into: &scratch.rgb, converter: &scratch.converter)
    if let look { return try look(item.frame, scratch.rgb, picture.width, picture.height) }
    try scratch.writer.encode(
      rgb: scratch.rgb, width: picture.width, height: picture.height, into: &scratch.file)
    try context.staging.write(
      scratch.file, as: FrameFileName.name(item.frame, scratch.writer.ending))
  }

  private func nextWanted(_ ledger: borrowing Mutex<PictureAccounting>) throws -> Item? {
    while true {
      try context.cancellation.check()
      guard let picture = try feed.next() else { return nil }
      context.progress.advance()
      let (frame, isOver) = ledger.withLock { ($0.enter(picture), $0.isOver) }
      if isOver { return nil }
      if let frame { return Item(picture: picture, frame: frame) }
    }
  }
}
