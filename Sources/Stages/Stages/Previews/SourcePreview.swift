import Captures
import Core
import Media
import Processing
import SystemPackage

/// Makes an overview of a capture as the app left it: decodes some frames from the source and
/// writes nothing.
///
/// Never fails because of damage: what cannot be displayed is listed below the pictures.
package struct SourcePreview {
  private let capture: Capture
  private let calibration: CalibrationSource
  private let count: Int
  private var sheet = PreviewSheet(columns: 3)
  private var drawn = DrawnSheet()

  /// - Parameters:
  ///   - calibration: a file, or a folder of files by device, that replaces the capture's own
  ///     values.
  ///   - frames: largest number of frames; by default three with depth, six without.
  package static func sheet(
    of capture: Capture, calibration: FilePath? = nil, calibrationFolder: FilePath? = nil,
    frames: Int? = nil
  ) -> DrawnSheet {
    var preview = SourcePreview(
      capture: capture,
      calibration: CalibrationSource(
        file: calibration, folder: calibrationFolder, deviceID: capture.device.id),
      count: max(1, frames ?? (capture.depth.value == nil ? 6 : 3)))
    return preview.draw()
  }

  private mutating func draw() -> DrawnSheet {
    let most = PreviewSheet.pictureSize(columns: sheet.columns)
    var shown = colors(most)
    if shown.isEmpty { shown = depthFrames().map { ($0, nil) } }
    let depths = depths(of: shown.map(\.frame))
    let aligned = aligned(depths, width: most.width)
    let frames = shown.map { frame, color in
      ShownFrame(
        color: color, aligned: aligned[frame], depth: depths[frame],
        depthWidth: capture.depth.value?.width, most: most)
    }
    let range = FalseColor(of: frames.compactMap(\.depth))
    for (frame, pictures) in zip(shown.map(\.frame), frames) {
      drawn.add(pictures, label: capture.label(ofFrame: frame), range, to: &sheet)
    }
    drawn.frames = shown.map(\.frame)
    drawStrip()
    sheet.title = [capture.id, title]
    let codes = capture.warnings.withoutNotes.map(\.code.rawValue)
    if !codes.isEmpty {
      drawn.notes.append("warnings: " + Array(Set(codes)).sorted().joined(separator: ", "))
    }
    for (stream, error) in capture.errors { drawn.notes.append("\(stream): \(error.problem)") }
    sheet.notes = drawn.notes
    drawn.picture = sheet.draw()
    return drawn
  }

  /// `arkit-scanner g6, color 300 of 1920x1440, depth 300 of 256x192, imu, 10.0 s`.
  private var title: String {
    var words = ["\(capture.family.rawValue) \(capture.generation)"]
    func add(_ name: String, _ stream: StreamDescription?) {
      guard let stream else { return }
      let size = [stream.width, stream.height].compactMap { $0.map(String.init) }
      words.append(
        "\(name) \(stream.frames ?? 0)" + (size.count == 2 ? " of \(size[0])x\(size[1])" : ""))
    }
    add("color", capture.color.value?.description)
    add("depth", capture.depth.value?.description)
    if capture.imu.value != nil { words.append("imu") }
    let times = capture.frames.compactMap(\.timestamp)
    if let first = times.first, let last = times.last, last > first {
      let seconds = (Double(last.nanoseconds) - Double(first.nanoseconds)) / 1e9
      words.append(seconds.fixed(1) + " s")
    }
    return words.joined(separator: ", ")
  }

  private mutating func drawStrip() {
    sheet.strip = MotionStrip.draw(
      capture.motionSeries, frames: capture.timesBesideMotion(),
      shown: capture.timesBesideMotion(drawn.frames), width: PreviewSheet.width)
    drawn.note(part: sheet.strip == nil ? nil : "imu")
  }

  // MARK: Color

  /// Pictures in the order of their frames, reduced.
  private mutating func colors(
    _ most: (width: Int, height: Int)
  ) -> [(frame: Int, color: ColorImage?)] {
    guard let color = capture.color.value else { return [] }
    var found: [(frame: Int, color: ColorImage?)] = []
    do {
      switch color.source {
      case .stills(let files):
        for place in Self.centers(of: files.count, count: count) {
          guard let picture = try? StillImage.read(files[place]).upright else { continue }
          found.append((color.frameOfPicture?[place] ?? place, Self.small(picture, most)))
        }
      case .pictures(let pictures):
        for place in Self.centers(of: pictures.count, count: count) {
          guard let picture = try pictures.decode(place).picture else { continue }
          found.append((color.frameOfPicture?[place] ?? place, Self.small(picture, most)))
        }
      case .video(let file, let track):
        found = try Self.pictures(of: color, file, track, near: wantedPictures(color), most)
      }
    } catch {
      drawn.notes.append("color cannot be shown: \(error)")
    }
    if found.isEmpty, drawn.notes.isEmpty {
      drawn.notes.append("no color picture could be decoded")
    }
    return found.sorted { $0.frame < $1.frame }
  }

  /// Preferred pictures, in display order: those of frames whose depth can be reached quickly.
  private func wantedPictures(_ color: ColorStream) -> [Int] {
    let pictures = color.order?.count ?? color.description.frames ?? 0
    var reached = pictures
    if let depth = capture.depth.value {
      let last = depth.firstFrame + Self.reachableRecords(depth)
      let within = (0..<pictures).prefix { (color.frameOfPicture?[$0] ?? $0) < last }.count
      if within > 0 { reached = within }
    }
    return Self.centers(of: reached, count: count)
  }

  /// The centers of `count` equal parts of `0..<total`.
  static func centers(of total: Int, count: Int) -> [Int] {
    guard total > count else { return Array(0..<max(0, total)) }
    return (0..<count).map { (2 * $0 + 1) * total / (2 * count) }
  }

  static func small(_ picture: ColorImage, _ most: (width: Int, height: Int)) -> ColorImage {
    picture.mean(picture.size.within(most))
  }

  // MARK: Depth

  /// Limit on records that are read of streams without random access.
  private static let mostOrderedRecords = 900

  private static func reachableRecords(_ depth: DepthStream) -> Int {
    switch depth.access {
    case .indexed(let source): source.recordCount
    case .ordered(let source): min(source.recordCount, mostOrderedRecords)
    }
  }

  /// Frames to display if there is no color.
  private func depthFrames() -> [Int] {
    guard let depth = capture.depth.value else { return [] }
    return Self.centers(of: Self.reachableRecords(depth), count: count).map {
      depth.firstFrame + $0
    }
  }

  private mutating func depths(of frames: [Int]) -> [Int: DepthImage] {
    guard let depth = capture.depth.value, let last = frames.max() else { return [:] }
    guard last < depth.firstFrame + Self.reachableRecords(depth) || isIndexed(depth) else {
      drawn.notes.append(
        "depth of these frames is too far from the beginning of the file to be shown quickly")
      return [:]
    }
    var found: [Int: DepthImage] = [:]
    do {
      let records = try SequentialRecords(depth)
      var pixels: [UInt16] = []
      for frame in frames {
        guard let outcome = try records.read(frame: frame, into: &pixels), outcome.hasPicture,
          pixels.count == depth.width * depth.height
        else { continue }
        found[frame] = DepthImage(
          width: depth.width, height: depth.height, millimeters: pixels)
      }
    } catch {
      drawn.notes.append("depth: \(error)")
    }
    return found
  }

  private func isIndexed(_ depth: DepthStream) -> Bool {
    if case .indexed = depth.access { true } else { false }
  }

  /// Depth as the color camera sees it in a picture of this width; empty, with a note, if that is not known.
  private mutating func aligned(_ depths: [Int: DepthImage], width: Int) -> [Int: DepthImage] {
    guard let depth = capture.depth.value, capture.color.value != nil, !depths.isEmpty else {
      return [:]
    }
    do {
      let cameras = try CalibrationChoice.cameras(
        capture, file: calibration.path,
        depthSize: depth.size)
      drawn.notes += cameras.doubts.map(\.message)
      // The coarsest grid that is fine enough.
      let columns = cameras.colorSize.map {
        cameras.clockwiseQuarterTurns % 2 == 0 ? $0.width : $0.height
      }
      let grid: AlignmentParameters.Grid =
        switch columns ?? 0 {
        case (4 * width)...: .quarterColor
        case (2 * width)...: .halfColor
        default: .color
        }
      let aligner = try DepthAligner(
        calibration: cameras.calibration, parameters: AlignmentParameters(grid: grid),
        depthSize: cameras.depthSize, colorSize: cameras.colorSize,
        clockwiseQuarterTurns: cameras.clockwiseQuarterTurns)
      let output = aligner.outputIntrinsics
      var scratch = AlignmentScratch()
      return try depths.mapValues { depth in
        var pixels: [UInt16] = []
        try aligner.align(depth.millimeters, scratch: &scratch, into: &pixels)
        return DepthImage(width: output.width, height: output.height, millimeters: pixels)
      }
    } catch {
      drawn.notes.append("color and depth are not shown together: \(error)")
      return [:]
    }
  }
}

extension SourcePreview {
  /// How many pictures from the beginning are decoded if key pictures are too rare.
  private static let mostDecoded = 150

  /// Reduced pictures near some display indices, by canonical frame. These are key pictures, each
  /// decoded alone; if fewer than half of the indices have one, pictures from the beginning of the
  /// video.
  private static func pictures(
    of color: ColorStream, _ file: FilePath, _ track: Int, near wanted: [Int],
    _ most: (width: Int, height: Int)
  ) throws -> [(frame: Int, color: ColorImage?)] {
    let container = color.description.container
    var found: [(frame: Int, color: ColorImage?)] = []
    var rgb: [UInt8] = []
    var converter = ColorConverter()
    func take(_ picture: DecodedPicture) throws {
      guard let index = picture.displayIndex else { return }
      // A picture that was not counted belongs to no frame.
      if let frames = color.frameOfPicture, !frames.indices.contains(index) { return }
      try converter.convert(picture, into: &rgb)
      let image = ColorImage(width: picture.width, height: picture.height, rgb: rgb)
      found.append((color.frame(ofPicture: index), small(image, most)))
    }
    if let order = color.order {
      _ = try KeyPictures.read(
        file, container: container, track: track, order: order,
        orientation: color.orientation, wanted: wanted, take)
    }
    if 2 * found.count >= wanted.count, !found.isEmpty { return found }
    found = []
    let reach = min(mostDecoded, (wanted.last ?? 0) + 1)
    let places = Set(centers(of: reach, count: wanted.count))
    let decoder = try VideoDecoder(
      file, container: container, track: track, order: color.order,
      orientation: color.orientation)
    while let picture = try decoder.next(), picture.outputIndex < mostDecoded {
      // Pictures before the first decodable one have no index; any picture is better than none.
      if picture.displayIndex.map(places.contains) ?? false { try take(picture) }
      if picture.displayIndex.map({ $0 >= reach }) ?? false { break }
    }
    return found
  }
}
