import Captures
import Core
import Engine
import Media
import Processing

/// Makes pictures for people, which show whether depth matches color, what the capture contains,
/// and what the motion sensors recorded.
///
/// Made from the artifacts of other stages and the sensor readings of the capture; nothing is
/// decoded or aligned again. Damaged pictures are left out; one of which nothing is known, because the machine failed,
/// is an error.
enum Preview: Stage {
  static let name = "preview"
  static let version = 7
  static let sentence =
    "Draws, for some evenly spaced frames, color with the contours of depth beside depth in false color; "
    + "without depth, one sheet of frames. Also draws the motion sensors over time."
  static let ports = [
    Port("color", .colorImages, isRequired: false, "color pictures (PNG or JPEG)"),
    Port("aligned", .alignedImages, isRequired: false, "depth as the color camera sees it"),
    Port(
      "depth", .depthImages, isRequired: false, "shown beside color where nothing is aligned"),
  ]
  static let parameters = ParameterDescription.list(frames, spacing)

  private static let frames = Parameter(
    "frames", .integer(1...10_000), default: 8, "How many frames are shown at most.")
  private static let spacing = Parameter(
    "spacing", .integer(1...1_000_000), default: 1,
    "Show at most one frame in this many, but two where there are two: keeps the cost in proportion."
  )

  /// Plots of motion sensors over time.
  static let motionFile = "imu.png"
  /// Overview of frames of a capture without depth.
  static let overviewFile = "sheet.png"

  static let content = ArtifactContent.preview

  static let reads: Set<CapturePart> = [.imu, .frames]

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let states = [CapturePart.color, .depth, .imu].map { capture.state(of: $0) }
    if states.contains(.present) { return .applies }
    // The stage of that stream reports the error.
    for case .unreadable(let why) in states {
      return .notApplicable("nothing can be shown: \(why)")
    }
    return .notApplicable("there is no color, depth or IMU that can be shown")
  }

  /// Most pictures of pairs take 20 to 370 KB.
  static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    let count = count(
      of: capture.summary.frameCount, count: parameters[frames], spacing: parameters[spacing])
    return ExpectedBytes(least: 0, usual: Int64(count) * 120_000)
  }

  /// How many of so many frames are displayed: at most `count`, and at most one in `spacing`, but two if there are two.
  static func count(of frames: Int, count: Int, spacing: Int) -> Int {
    min(frames, count, max(2, (frames + max(1, spacing) - 1) / max(1, spacing)))
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let pictures = PublishedPictures(
      context.inputs, depthWidth: context.capture.depth.value?.width)
    let chosen = pictures.frames.evenly(
      count(
        of: pictures.frames.count, count: context.parameters[Self.frames],
        spacing: context.parameters[spacing]))
    context.progress.expect(chosen.count)
    var made =
      pictures.hasDepth
      ? try writePairs(chosen, pictures, context) : try writeOverview(chosen, pictures, context)
    if let problem = pictures.unknown { throw problem }
    let frames = made
    if let strip = MotionStrip.draw(
      context.capture.motionSeries, frames: context.capture.timesBesideMotion(),
      shown: context.capture.timesBesideMotion(chosen))
    {
      var writer = PNGWriter()
      try context.staging.write(writer.encode(strip), as: motionFile)
      made += 1
    }
    if made == 0 {
      if let problem = pictures.problem { throw problem }
      let isMissing =
        context.capture.color.value != nil && context.inputs["color"] == nil
        && context.inputs["aligned"] == nil && context.inputs["depth"] == nil
      throw StageDoesNotApply(
        "there is no picture to show" + (isMissing ? ": those of color were not made" : ""))
    }
    return StageResult(frames: frames)
  }

  /// Writes one picture per frame. All use one range of colors, so that they can be compared: that
  /// of up to eight of them, to limit memory.
  private static func writePairs(
    _ chosen: [Int], _ pictures: PublishedPictures, _ context: StageContext
  ) throws -> Int {
    let head = chosen.evenly(8)
    let read = try concurrentMap(count: head.count, budget: context.budget) { index in
      try context.cancellation.check()
      return pictures.shown(head[index], most: ShownFrame.half)
    }
    let colors = FalseColor(of: read.compactMap { $0?.depth })
    let known = Dictionary(zip(head, read), uniquingKeysWith: { first, _ in first })
    let written = try concurrentMap(count: chosen.count, budget: context.budget) { index in
      try context.cancellation.check()
      defer { context.progress.advance() }
      let frame = chosen[index]
      let shown = known[frame] ?? pictures.shown(frame, most: ShownFrame.half)
      guard let shown, let picture = shown.pair(colors) else { return 0 }
      var writer = PNGWriter()
      try context.staging.write(writer.encode(picture), as: FrameFileName.name(frame))
      return 1
    }
    return written.reduce(0, +)
  }

  private static func writeOverview(
    _ chosen: [Int], _ pictures: PublishedPictures, _ context: StageContext
  ) throws -> Int {
    let columns = 4
    let most = PreviewSheet.pictureSize(columns: columns)
    let cells = try concurrentMap(count: chosen.count, budget: context.budget) {
      index -> PreviewSheet.Cell? in
      try context.cancellation.check()
      defer { context.progress.advance() }
      guard let color = pictures.shown(chosen[index], most: most)?.color else { return nil }
      return PreviewSheet.Cell(
        label: context.capture.label(ofFrame: chosen[index]), pictures: [color])
    }.compactMap(\.self)
    if cells.isEmpty { return 0 }
    var sheet = PreviewSheet(columns: columns)
    sheet.cells = cells
    var writer = PNGWriter()
    try context.staging.write(writer.encode(sheet.draw()), as: overviewFile)
    return cells.count
  }
}

/// An overview picture, and what it shows.
package struct DrawnSheet: Sendable {
  package var picture = ColorImage(width: 1, height: 1)
  /// Canonical indices of the displayed frames.
  package var frames: [Int] = []
  /// `color`, `overlay`, `depth`, `imu`.
  package var parts: [String] = []
  /// What could not be displayed, and why.
  package var notes: [String] = []

  /// `frame 120  4.00 s`: the index, and the time since `first`.
  static func label(ofFrame frame: Int, _ time: Int64?, since first: Int64?) -> String {
    guard let time, let first else { return "frame \(frame)" }
    let seconds = (Double(time) - Double(first)) / 1e9
    return "frame \(frame)  \(seconds.fixed(2)) s"
  }

  mutating func note(part: String?) {
    if let part, !parts.contains(part) { parts.append(part) }
  }

  /// Adds the pictures of a frame to the sheet.
  mutating func add(
    _ shown: ShownFrame, label: String, _ range: FalseColor, to sheet: inout PreviewSheet
  ) {
    let (overlay, depth) = (shown.overlay(range), shown.falseColor(range))
    if overlay != nil { sheet.hasContours = true }
    if depth != nil { sheet.scale = range }
    note(part: overlay != nil ? "overlay" : shown.color != nil ? "color" : nil)
    note(part: depth == nil ? nil : "depth")
    sheet.cells.append(
      PreviewSheet.Cell(
        label: label, pictures: [overlay ?? shown.color, depth].compactMap(\.self)))
  }

  /// A mark in every such file, which permits replacing it.
  private static let mark = "scanmill view"

  /// The picture as a PNG or JPEG file.
  package func encoded(asJPEG: Bool) throws -> [UInt8] {
    guard asJPEG else {
      let mark = PNGText(keyword: "Software", text: Self.mark)
      var writer = PNGWriter(compression: .compact, notes: [mark].compactMap(\.self))
      return try writer.encode(picture)
    }
    var writer = try JPEGWriter(quality: 85)
    var file: [UInt8] = []
    try writer.encode(
      rgb: picture.rgb, width: picture.width, height: picture.height, into: &file)
    // A comment after the start of the file (ITU-T T.81, B.2.4.5): marker, length including itself,
    // text.
    let text = Array(Self.mark.utf8)
    file.insert(contentsOf: [0xFF, 0xFE, 0, UInt8(text.count + 2)] + text, at: min(2, file.count))
    return file
  }

  /// Whether a file was written by `encoded`. Only such files may be replaced.
  package static func isOurs(_ file: [UInt8]) -> Bool {
    let text = Array(mark.utf8)
    if file.starts(with: [0xFF, 0xD8]) { return file.dropFirst(6).starts(with: text) }
    guard file.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return false }
    let note = Array("Software".utf8) + [0] + text
    // The note is after the pixels: before its checksum and the end of the file.
    return file.dropLast(4 + 12).suffix(note.count).elementsEqual(note)
  }
}
