import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Decodes a video in one worker at a time; converts, encodes and writes its pictures on all cores.
struct VideoExport {
  private let publisher: PicturePublisher
  private let color: ColorStream
  private let decoder: SharedVideoDecoder
  private let selection: FrameSelection
  private let file: FilePath
  /// Which of the selected pictures are picked; `nil` for all.
  private let plan: PickPlan?
  /// Converts pictures by the meaning of their values; `nil` leaves them as they are.
  private let light: ColorLight?

  /// - Parameters:
  ///   - selection: the wanted frames.
  ///   - plan: picks some of the wanted frames, without scan.
  init(
    _ publisher: PicturePublisher, _ color: ColorStream, file: FilePath, track: Int,
    _ selection: FrameSelection, plan: PickPlan?, light: ColorLight?
  ) throws {
    self.publisher = publisher
    self.plan = plan
    self.light = light
    self.color = color
    self.file = file
    self.selection = selection
    let context = publisher.context
    decoder = try SharedVideoDecoder(
      context, color, file: file, track: track,
      workNanosecondsPerPixel: SharedVideoDecoder.workNanosecondsPerPixel(
        format: context.parameters[DecodeColor.format],
        compression: context.parameters[CommonParameters.compression]))
  }

  /// How many decoded pictures may wait for a worker.
  static let ahead = 1

  private struct Scratch: ~Copyable {
    var picture: PicturePublisher.Scratch
    var converter: ColorConverter
    var light = ColorLight.Scratch()
    var rgb: [UInt8] = []
  }

  private var context: StageContext { publisher.context }

  func run() throws -> StageResult {
    let accounting = Mutex(
      PictureAccounting(
        counted: color.order?.count ?? color.description.frames ?? 0,
        frameOfPicture: color.frameOfPicture, selection: selection,
        width: color.description.width, height: color.description.height))
    let picking = Mutex(plan.map { VideoPicking($0, size: color.uprightSize) })
    let written = Atomic<Int>(0)
    context.progress.expect(color.description.frames ?? 0)
    try pullFrames(
      workers: context.workers, ahead: Self.ahead, budget: context.budget, precedence: .first,
      makeScratch: {
        Scratch(
          picture: try publisher.scratch(color: light?.pngColor),
          converter: ColorConverter(parameters: context.parameters))
      },
      next: { (_: inout Scratch) throws -> FramePicture? in try nextWanted(accounting, picking) },
      work: { (item: FramePicture, scratch: inout Scratch) throws -> Void in
        try decoder.work { try write(item, &scratch) }
        written.add(1, ordering: .relaxed)
      })
    let frames = written.load(ordering: .relaxed)
    let file = file.shownName
    let picked = picking.withLock { $0.map { (table: $0.table, plan: $0.plan) } }
    let (holes, wanted) = try accounting.withLock { accounting in
      accounting.report(
        file, picked: picked.map { Set($0.table.frames) }, to: context.warnings)
      try accounting.check(
        written: frames, of: picked?.table.frames.count, decoder.counts, of: file)
      return (accounting.holes.count, accounting.wanted)
    }
    var result = StageResult(frames: frames)
    result.record(FrameHoles(lost: holes, frames: wanted + holes), in: "color")
    if let picked { try result.record(picked.table, picked.plan, context.staging) }
    result.externalCPUSeconds = decoder.threadCPUSeconds
    return result
  }

  private func write(_ item: FramePicture, _ scratch: inout Scratch) throws {
    let picture = item.picture
    if let light, light.treatment.isWide { return try writeWide(item, light, &scratch) }
    if let light {
      try light.convert(picture, &scratch.light, into: &scratch.rgb)
    } else {
      try scratch.converter.convert(picture, into: &scratch.rgb)
    }
    try publisher.publish(
      item.frame, rgb: scratch.rgb, width: picture.width, height: picture.height,
      &scratch.picture)
  }

  /// Writes a picture of 16 bits.
  private func writeWide(_ item: FramePicture, _ light: ColorLight, _ scratch: inout Scratch) throws
  {
    let (width, height) = (item.picture.width, item.picture.height)
    try light.convert(item.picture, &scratch.light)
    if let gauge = publisher.gauge {
      light.look(scratch.light.wide, into: &scratch.rgb)
      gauge.measure(item.frame, rgb: scratch.rgb, width: width, height: height)
    }
    let shaped: (rgb: [UInt16], width: Int, height: Int) =
      try publisher.shaping?.shaped(
        scratch.light.wide, width: width, height: height, frame: item.frame,
        &scratch.picture.shaper)
      ?? (scratch.light.wide, width, height)
    if let visit = publisher.visit {
      light.look(shaped.rgb, into: &scratch.rgb)
      return try visit(item.frame, scratch.rgb, shaped.width, shaped.height)
    }
    try scratch.picture.writer.encode(
      rgb16: shaped.rgb, width: shaped.width, height: shaped.height)
    try publisher.write(item.frame, scratch.picture)
  }

  private func nextWanted(
    _ accounting: borrowing Mutex<PictureAccounting>, _ picking: borrowing Mutex<VideoPicking?>
  ) throws -> FramePicture? {
    while true {
      try context.cancellation.check()
      guard !picking.withLock({ $0?.isOver ?? false }), let picture = try decoder.next() else {
        return picking.withLock { $0?.finish() }
      }
      light?.begin(picture)
      context.progress.advance()
      let (frame, isOver) = accounting.withLock { ($0.enter(picture), $0.isOver) }
      if isOver {
        return picking.withLock { $0?.finish() }
      }
      guard let frame else { continue }
      guard plan != nil else { return (frame, picture) }
      if let picked = try picking.withLock({ try $0?.take(picture, frame: frame) }) {
        return picked
      }
    }
  }
}

extension ColorConverter {
  /// A converter with the parameters of `decode-color`; `auto` follows the stream's tags.
  init(parameters: ParameterValues) {
    self.init(
      conversion: parameters[DecodeColor.conversion], matrix: parameters[DecodeColor.matrix],
      range: parameters[DecodeColor.range])
  }
}

extension StageResult {
  /// Records the frames of `stream` that could not be decoded; records nothing if there are none.
  ///
  mutating func record(_ holes: FrameHoles, in stream: String) {
    guard holes.lost > 0 else { return }
    recorded[FrameHoles.recordedName] = .object([
      stream: .object([
        "lost": .integer(Int64(holes.lost)), "frames": .integer(Int64(holes.frames)),
      ])
    ])
  }
}
