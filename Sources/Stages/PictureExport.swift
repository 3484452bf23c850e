import Captures
import Media
import Core
import Engine
import Processing

/// Writes color pictures of one file each: upright, 8-bit RGB, or the file itself where that is what
/// is asked for.
struct PictureExport: Sendable {
  private let context: StageContext
  private let color: ColorStream
  private let pictures: ColorPictures
  private let selection: FrameSelection
  /// Gives pictures their shape; `nil` leaves them as they are.
  private let shaping: ColorShaping?
  /// Receives pictures instead of writing them; called by any thread.
  private let visit: PictureVisitor?
  /// Measures the pictures that are written, as they were recorded.
  private let gauge: PictureGauge?
  /// Whether a JPEG file that is upright is copied: nothing but the format is asked for.
  private let copiesJPEG: Bool

  init(
    _ context: StageContext, _ color: ColorStream, _ pictures: ColorPictures,
    _ selection: FrameSelection, _ shaping: ColorShaping?, visit: PictureVisitor?,
    gauge: PictureGauge? = nil
  ) {
    self.context = context
    self.color = color
    self.pictures = pictures
    self.selection = selection
    self.shaping = shaping
    self.visit = visit
    self.gauge = gauge
    let quality = context.parameters.integer("quality") ?? ColorWriter.usualQuality
    copiesJPEG =
      visit == nil && shaping == nil && context.parameters.text("format") == "jpeg"
      && quality == ColorWriter.usualQuality
  }

  func run() throws -> StageResult {
    let wanted = (0..<pictures.count).filter { selection.contains(frame(of: $0)) }
    if wanted.isEmpty, pictures.count > 0 {
      context.warnings.add(
        .nothingLeft, "color", count: pictures.count,
        "0 of \(pictures.count) pictures are left: "
          + context.parameters.settings(FrameSelection.parameterNames))
    }
    context.progress.expect(wanted.count)
    let outcomes = try concurrentMap(count: wanted.count, budget: context.budget) { place in
      try context.cancellation.check()
      defer { context.progress.advance() }
      return try export(wanted[place])
    }
    let count = outcomes.count { $0.hasPicture }
    if count == 0, let issue = outcomes.lazy.compactMap(\.issue).first {
      // A single lost picture is a hole; without any picture the stream is unreadable.
      throw UnreadableStream(description: issue.message)
    }
    let tally = OutcomeTally(subject: "color")
    for outcome in outcomes {
      tally.add(RecordOutcome(hasPicture: outcome.hasPicture, issue: outcome.issue))
    }
    for warning in tally.warnings { context.warnings.add(warning) }
    var result = StageResult(frames: count)
    result.record(holes: wanted.count - count, of: wanted.count, in: "color")
    return result
  }

  private func frame(of index: Int) -> Int { color.frame(ofPicture: index) }

  /// Writes or visits one picture, if it can be read whole.
  private func export(_ index: Int) throws -> (hasPicture: Bool, issue: FrameIssue?) {
    let frame = frame(of: index)
    if copiesJPEG {
      let stored = try pictures.stored(index)
      guard let bytes = stored.bytes else { return (false, stored.issue) }
      if stored.isUprightJPEG {
        try context.staging.write(bytes, as: FrameFileName.name(frame, "jpg"))
        if let gauge, let picture = try pictures.decode(index).picture {
          gauge.measure(frame, rgb: picture.rgb, width: picture.width, height: picture.height)
        }
        return (true, stored.issue)
      }
    }
    let outcome = try pictures.decode(index)
    guard let picture = outcome.picture else { return (false, outcome.issue) }
    gauge?.measure(frame, rgb: picture.rgb, width: picture.width, height: picture.height)
    var shaper = PictureShaper(shaping?.shape ?? PictureShape())
    let shaped: (rgb: [UInt8], width: Int, height: Int) =
      try shaping?.shaped(
        picture.rgb, width: picture.width, height: picture.height, frame: frame, &shaper)
      ?? (picture.rgb, picture.width, picture.height)
    if let visit {
      try visit(frame, shaped.rgb, shaped.width, shaped.height)
      return (true, outcome.issue)
    }
    var writer = try ColorWriter(context.parameters)
    var file: [UInt8] = []
    try writer.encode(rgb: shaped.rgb, width: shaped.width, height: shaped.height, into: &file)
    try context.staging.write(file, as: FrameFileName.name(frame, writer.ending))
    return (true, outcome.issue)
  }
}
