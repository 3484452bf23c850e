import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Decodes the pictures of `color/` again from their video, which takes half as long as reading the
/// PNG files.
///
/// Used only if the pictures are certainly the same: `color/` was written by this version of
/// `decode-color` with these versions of FFmpeg, from a video without damage, in the
/// size and with the distortion of the camera. At least every second
/// picture must be wanted. Otherwise the files are read.
struct ColorRedecoder {
  private let context: StageContext
  private let color: ColorStream
  let decoder: SharedVideoDecoder
  private let wanted: Set<Int>
  private let parameters: ParameterValues

  /// - Parameters:
  ///   - record: the record of `color/`.
  ///   - frames: the wanted frames, among those in the record.
  init?(_ context: StageContext, _ record: ArtifactRecord, frames: [Int]) throws {
    guard record.uses == DecodeColor.name, record.version == DecodeColor.version,
      record.libraries == LibraryVersions.ofVideo,
      PublishedShape(record) == nil, !record.warnings.contains(where: { $0.subject == "color" }),
      !context.capture.warnings.contains(where: { $0.subject == "color" }),
      let color = context.capture.color.value, case .video(let file, let track) = color.source,
      !frames.isEmpty, 2 * frames.count >= color.order?.count ?? color.description.frames ?? .max
    else { return nil }
    self.context = context
    self.color = color
    parameters = DecodeColor.conversions(of: record.parameters)
    wanted = Set(frames)
    decoder = try SharedVideoDecoder(
      context, color, file: file, track: track,
      workNanosecondsPerPixel: SharedVideoDecoder.workNanosecondsPerPixel(
        format: .jpeg, compression: .fast))
  }

  /// Decodes in one thread at a time and calls `work` with the pictures on all cores.
  ///
  /// - Returns: the processed frames; a picture that turns out to be damaged is not among them.
  func pull<Scratch: ~Copyable>(
    makeScratch: @Sendable () throws -> Scratch,
    work:
      @Sendable (_ frame: Int, _ rgb: [UInt8], _ width: Int, _ height: Int, inout Scratch)
      throws -> Void
  ) throws -> Set<Int> {
    let accounting = Mutex(
      PictureAccounting(
        counted: color.order?.count ?? color.description.frames ?? 0,
        frameOfPicture: color.frameOfPicture,
        selection: FrameSelection(every: 1, first: 0, last: nil), width: color.description.width,
        height: color.description.height))
    let done = Mutex<Set<Int>>([])
    try pullFrames(
      workers: context.workers, ahead: VideoExport.ahead, budget: context.budget,
      precedence: .first,
      makeScratch: {
        ColorRedecoderScratch(
          own: try makeScratch(), converter: ColorConverter(parameters: parameters))
      },
      next: { _ in try next(accounting) },
      work: { item, scratch in
        let picture = item.picture
        try decoder.work {
          try scratch.converter.convert(picture, into: &scratch.rgb)
          try work(item.frame, scratch.rgb, picture.width, picture.height, &scratch.own)
        }
        context.progress.advance()
        done.withLock { _ = $0.insert(item.frame) }
      })
    return done.withLock { $0 }
  }

  private func next(_ accounting: borrowing Mutex<PictureAccounting>) throws -> FramePicture? {
    while true {
      try context.cancellation.check()
      guard let picture = try decoder.next() else { return nil }
      context.progress.showLife()
      guard let frame = accounting.withLock({ $0.enter(picture) }), wanted.contains(frame),
        !picture.isDamaged
      else { continue }
      return (frame, picture)
    }
  }
}

/// The buffers of one worker and of its caller.
private struct ColorRedecoderScratch<Own: ~Copyable>: ~Copyable {
  var own: Own
  var converter: ColorConverter
  var rgb: [UInt8] = []
}
