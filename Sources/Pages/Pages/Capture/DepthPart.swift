import Core
import Engine
import Media
import Processing
import SystemPackage

extension CapturePieces {
  private static let bins = 60
  /// Frames with a smaller measured share count as nearly empty.
  private static let littleShare = 0.1

  /// The part about how much of the depth pictures is measured, and at what distances.
  func depthPart() -> Markup? {
    let (survey, problems) = (pictures.survey, pictures.depthProblems)
    if survey == nil, problems.isEmpty { return nil }
    return Tag.section(.id("depth")) {
      Tag.h2 { "Depth" }
      phrasing.notices(problems)
      if let survey, !survey.frames.isEmpty {
        Tag.p { words(survey) }
        histogram(survey)
        shares(survey)
      }
    }
  }

  private func median(_ survey: DepthSummary) -> Double { survey.medianShare ?? 0 }

  private func words(_ survey: DepthSummary) -> String {
    var words =
      survey.frames.count == survey.all
      ? "All \(FigureText.counted(survey.all, "depth picture")) were looked at."
      : "\(FigureText.count(survey.frames.count)) of \(FigureText.counted(survey.all, "depth picture")) were looked at: evenly spaced ones, and those with the smallest files."
    if let near = survey.meters(atShare: 0.02), let middle = survey.meters(atShare: 0.5),
      let far = survey.meters(atShare: 0.98)
    {
      words +=
        " Most measurements lie between \(FigureText.fixed(near, 2)) m and \(FigureText.fixed(far, 2)) m, half of them below \(FigureText.fixed(middle, 2)) m."
    } else {
      words += " Nothing was measured in any of them."
    }
    words += " The median frame has \(FigureText.percent(median(survey))) of its pixels measured."
    let empty = survey.frames.filter { $0.share < Self.littleShare }
    if !empty.isEmpty {
      let names = empty.prefix(12).map { "\($0.frame)" }.joined(separator: ", ")
      words +=
        " Less than 10 % in \(FigureText.counted(empty.count, "frame")): \(names)\(empty.count > 12 ? ", …" : "")."
    }
    return words
  }

  @MarkupBuilder private func histogram(_ survey: DepthSummary) -> Markup {
    if let (end, counts) = survey.bins(Self.bins) {
      let total = Double(max(1, counts.reduce(0, +)))
      let peak = counts.enumerated().max { $0.element < $1.element }?.offset ?? 0
      let width = end / Double(Self.bins)
      let name =
        "Histogram of depth from 0 to \(FigureText.fixed(end, 1)) m, most measurements near "
        + "\(FigureText.fixed((Double(peak) + 0.5) * width, 2)) m"
      Tag.figure(.classes("plot")) {
        Tag.h3 { "Histogram" }
        StripPlot.histogram(range: 0...end, bins: counts, axis: "meters", name: name)
        PageTable(
          caption: "Share of the measured pixels by distance", columns: ["Meters", "Share"],
          rows: stride(from: 0, to: Self.bins, by: 3).map { start in
            let sum = counts[start..<min(Self.bins, start + 3)].reduce(0, +)
            return [
              "\(FigureText.fixed(Double(start) * width, 2)) – \(FigureText.fixed(Double(start + 3) * width, 2))",
              FigureText.percent(Double(sum) / total),
            ]
          }
        ).markup()
      }
    }
  }

  private func shares(_ survey: DepthSummary) -> Markup {
    let first = survey.frames.first?.frame ?? 0
    let last = max(survey.frames.last?.frame ?? 0, first + 1)
    // At most one column per frame, so that bars are adjacent.
    let columns = min(600, max(1, min(survey.frames.count, last - first + 1)))
    var buckets = ColumnBuckets(range: Double(first)...Double(last + 1), columns: columns)
    for frame in survey.frames { buckets.add(at: Double(frame.frame), frame.share * 100) }
    let least = survey.frames.min { $0.share < $1.share }
    let name =
      "Measured pixels per frame: median \(FigureText.percent(median(survey)))"
      + (least.map { ", least \(FigureText.percent($0.share)) in frame \($0.frame)" } ?? "")
    return Tag.figure(.classes("plot")) {
      Tag.h3 { "Measured pixels per frame" }
      StripPlot(
        lanes: [
          StripPlot.Lane(
            name: "%", buckets: buckets, values: 0...100, height: 120, isFilled: false)
        ], range: buckets.range, axis: "frame", name: name
      ).markup()
      Tag.figcaption(.classes("small")) { name + "." }
      PageTable(
        caption: "Measured pixels by frame", columns: ["Frame", "Measured", "Nearest", "Farthest"],
        rows: survey.frames.evenly(24).map { frame in
          [
            "\(frame.frame)", FigureText.percent(frame.share),
            frame.nearest.map { FigureText.fixed(Double($0) / 1000, 3) + " m" } ?? "–",
            frame.farthest.map { FigureText.fixed(Double($0) / 1000, 3) + " m" } ?? "–",
          ]
        }
      ).markup()
    }
  }
}

/// Statistics of depth pictures: a histogram over all sampled ones, and the measured share of each.
///
/// Of long captures evenly spaced pictures are sampled, and those with the smallest files, because
/// empty pictures compress best. Memory: one picture per core and one number per picture.
struct DepthSummary {
  struct Frame: Hashable {
    var frame: Int
    /// Measured share of the pixels.
    var share: Double
    /// Millimeters; `nil` without any measurement.
    var nearest: Int?
    var farthest: Int?
  }

  /// Sampled frames, ascending.
  let frames: [Frame]
  let unreadable: [UnreadablePicture]
  /// Total number of pictures.
  let all: Int
  private let depths: DepthHistogram

  static let most = 240
  private static let smallest = 24
  /// Largest number of pixels to decode.
  private static let mostPixels = 100_000_000

  init(_ pictures: PictureIndex) {
    let chosen = Self.chosen(pictures)
    var frames: [Frame] = []
    var failed: [UnreadablePicture] = []
    var depths = DepthHistogram()
    var pixels = 0
    // A few at a time, so that few pictures are in memory.
    var start = 0
    while start < chosen.count, pixels < Self.mostPixels {
      let batch = chosen[start..<min(chosen.count, start + 8)]
      start += batch.count
      let first = batch.startIndex
      let results =
        (try? concurrentMap(count: batch.count) { index in
          Result { () throws(UnreadablePicture) in try pictures.depth(batch[first + index]) }
        }) ?? []
      for (entry, result) in zip(batch, results) {
        switch result {
        case .failure(let problem): failed.append(problem)
        case .success(let picture):
          let count = picture.millimeters.count
          let found = depths.add(picture)
          frames.append(
            Frame(
              frame: entry.frame, share: Double(found.measured) / Double(max(1, count)),
              nearest: found.nearest, farthest: found.farthest))
          pixels += count
        }
      }
    }
    self.depths = depths
    self.frames = frames.sorted { $0.frame < $1.frame }
    unreadable = failed
    all = pictures.entries.count
  }

  private static func chosen(_ pictures: PictureIndex) -> [PictureIndex.Entry] {
    let entries = pictures.entries
    guard entries.count > most else { return entries }
    let even = entries.evenly(most)
    let least = entries.sorted { ($0.bytes, $0.frame) < ($1.bytes, $1.frame) }.prefix(smallest)
    let known = Set(even.map(\.frame))
    return even + least.filter { !known.contains($0.frame) }
  }

  /// The distance in meters below which `share` of the measurements lie; `nil` without any.
  func meters(atShare share: Double) -> Double? {
    depths.millimeters(atShare: share).map { Double($0) / 1000 }
  }

  /// The median of the frames' measured shares; `nil` without frames.
  var medianShare: Double? {
    Median.upper(frames.map(\.share))
  }

  /// The range from the 2nd to the 98th percentile of the measurements, in whole tenths of meters.
  var shownMeters: ClosedRange<Double>? {
    guard let near = meters(atShare: 0.02), let far = meters(atShare: 0.98) else { return nil }
    let low = (near * 10).rounded(.down) / 10
    return low...max((far * 10).rounded(.up) / 10, low + 0.1)
  }

  /// The histogram in `count` equal bins from 0 to the 99.9th percentile, and that distance in
  /// meters. Larger distances count in the last bin.
  func bins(_ count: Int) -> (meters: Double, counts: [Int])? {
    guard let far = meters(atShare: 0.999) else { return nil }
    let end = max(0.1, (far * 10).rounded(.up) / 10)
    var bins = [Int](repeating: 0, count: count)
    for (value, pixels) in depths.counts.enumerated() where pixels > 0 {
      bins[min(count - 1, Int(Double(value) / 1000 / end * Double(count)))] += pixels
    }
    return (end, bins)
  }
}

/// The pictures of an artifact by frame, from its record.
struct PictureIndex {
  struct Entry {
    var frame: Int
    var path: String
    var bytes: Int64
  }

  /// Entries by ascending frame.
  let entries: [Entry]
  let stage: String
  private let folder: FilePath
  /// How pictures of linear light are shown; `nil` for others.
  private let light: LightView?

  /// `nil` if the artifact is absent or contains no pictures.
  init?(_ stage: PublishedStages.Stage?, _ layout: OutputLayout) {
    guard let stage, let record = stage.record, !stage.isRemoved else { return nil }
    entries = FrameFileName.pictures(in: record)
      .map { Entry(frame: $0.key, path: $0.value.path, bytes: $0.value.bytes) }
      .sorted { $0.frame < $1.frame }
    if entries.isEmpty { return nil }
    light = record.whiteOfLinearLight.map { LightView(white: $0) }
    self.stage = stage.name
    folder = layout.artifact(stage.name)
  }

  func entry(_ frame: Int) -> Entry? {
    let place = entries.partitioningIndex { $0.frame >= frame }
    return place < entries.count && entries[place].frame == frame ? entries[place] : nil
  }

  /// Throws an error with a sentence for people.
  func color(_ entry: Entry) throws(UnreadablePicture) -> ColorImage {
    try checked(entry) { file in
      guard let light else { return try StillImage.read(file).picture }
      let wide = try PNGReader.wideColor(at: file)
      var rgb: [UInt8] = []
      light.show(wide.rgb, into: &rgb)
      return ColorImage(width: wide.width, height: wide.height, rgb: rgb)
    }
  }

  func depth(_ entry: Entry) throws(UnreadablePicture) -> DepthImage {
    try checked(entry) { try PNGReader.depth(at: $0) }
  }

  private func checked<Picture>(
    _ entry: Entry, _ read: (FilePath) throws -> Picture
  ) throws(UnreadablePicture) -> Picture {
    let file = folder.appending(entry.path)
    let name = "\(stage)/\(entry.path)"
    guard !FileSystem.isLink(file), let identity = try? FileIdentity(of: file) else {
      throw UnreadablePicture(words: "\(name) no longer exists")
    }
    if identity.bytes == 0 { throw UnreadablePicture(words: "\(name) is empty") }
    do {
      return try read(file)
    } catch let error as ImageError {
      throw UnreadablePicture(words: "\(name): \(error.what)")
    } catch {
      throw UnreadablePicture(words: "\(name) cannot be read")
    }
  }
}

/// Why a picture cannot be displayed, as text.
struct UnreadablePicture: Error, Hashable {
  var words: String
}
