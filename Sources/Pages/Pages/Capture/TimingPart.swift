import Captures
import Core
import Engine
import Media
import SystemPackage

extension CapturePieces {
  /// The part about the regularity of frame times.
  func timingPart() -> Markup? {
    let frames = material.frames
    let problems = tableProblems + (frames?.problems ?? [])
    guard frames.map({ $0.timed > 1 }) ?? false || !problems.isEmpty else { return nil }
    return Tag.section(.id("timing")) {
      Tag.h2 { "Frame intervals" }
      phrasing.notices(problems)
      if let frames, let median = frames.median {
        Tag.p { words(frames, median) }
        plot(frames, median)
      } else if let frames, frames.timed > 1 {
        Tag.p { "All frames have the same time." }
      }
    }
  }

  private func words(_ frames: FrameTimes, _ median: Double) -> String {
    var words =
      "\(FigureText.counted(frames.timed, "frame")) in \(FigureText.duration(frames.duration)), "
      + "\(FigureText.significant(1e9 / median)) per second: one every "
      + "\(FigureText.duration(median / 1e9)), the longest interval "
      + "\(FigureText.duration(frames.longest / 1e9))."
    words +=
      frames.gapCount == 0
      ? " No gaps."
      : " \(FigureText.counted(frames.gapCount, "gap")) longer than \(FigureText.duration((frames.threshold ?? 0) / 1e9))."
    if frames.backward > 0 {
      words += " \(FigureText.counted(frames.backward, "time does", "times do")) not advance."
    }
    if frames.timed < frames.rows {
      words += " \(FigureText.counted(frames.rows - frames.timed, "frame")) without a time."
    }
    if let offset = frames.colorLessDepth, offset.lowerBound != 0 || offset.upperBound != 0 {
      words +=
        " Color is \(FigureText.fixed(offset.lowerBound, 1)) to \(FigureText.fixed(offset.upperBound, 1)) ms later than depth."
    }
    return words
  }

  @MarkupBuilder private func plot(_ frames: FrameTimes, _ median: Double) -> Markup {
    if let intervals = frames.intervals, let values = intervals.values {
      let bands = frames.bands
      let shown = NiceTicks.around(
        min(0, values.lowerBound)...max(values.upperBound, 2e-6 * median))
      let gaps = bands.prefix(5).map(\.words)
      let name =
        "Frame intervals: median \(FigureText.duration(median / 1e9)), longest "
        + FigureText.duration(frames.longest / 1e9)
        + (gaps.isEmpty ? "; no gaps" : "; " + gaps.joined(separator: ", "))
      Tag.figure(.classes("plot")) {
        StripPlot(
          lanes: [StripPlot.Lane(name: "ms", buckets: intervals, values: shown, height: 140)],
          range: intervals.range, axis: "seconds since the first frame", bands: bands, name: name
        ).markup()
        Tag.figcaption(.classes("small")) {
          "Milliseconds since the frame before; each column shows its shortest and longest."
          if !bands.isEmpty { " Hatched: frames are missing." }
        }
        PageTable.folded([
          PageTable(
            caption: "Intervals over time", columns: ["Seconds", "Shortest", "Longest"],
            rows: intervals.reduced(to: 20).map { part in
              [
                "\(FigureText.fixed(part.range.lowerBound, 2)) – "
                  + FigureText.fixed(part.range.upperBound, 2),
                part.values.map { FigureText.fixed($0.lowerBound, 1) + " ms" } ?? "no frames",
                part.values.map { FigureText.fixed($0.upperBound, 1) + " ms" } ?? "no frames",
              ]
            }),
          PageTable(
            caption: "Gaps between frames, the longest ones",
            columns: ["After frame", "At", "Length"],
            rows: frames.gaps.map { gap in
              [
                "\(gap.afterFrame)", FigureText.fixed(frames.seconds(gap.start), 3) + " s",
                FigureText.duration(Double(gap.length) / 1e9),
              ]
            }),
        ])
      }
    }
  }
}

/// Statistics of frame times: `tables/frames.csv`, read twice, in memory proportional to the
/// columns of a plot.
struct FrameTimes {
  struct Gap: Hashable {
    /// The frame before the gap.
    var afterFrame: Int
    /// Nanoseconds on the clock of the capture.
    var start: Int64
    var length: Int64
  }

  static let columns = 600
  static let mostGaps = 60

  private(set) var rows = 0
  /// Number of frames with a time.
  private(set) var timed = 0
  private(set) var first: Int64?
  private(set) var last: Int64?
  private(set) var median: Double?
  private(set) var longest = 0.0
  /// Steps above this are gaps, nanoseconds.
  private(set) var threshold: Double?
  /// The longest gaps, by time.
  private(set) var gaps: [Gap] = []
  private(set) var gapCount = 0
  /// Number of steps of 0 or less.
  private(set) var backward = 0
  /// Intervals in milliseconds over seconds since the first frame.
  private(set) var intervals: ColumnBuckets?
  /// Color time minus depth time, milliseconds.
  private(set) var colorLessDepth: ClosedRange<Double>?
  /// Number of frames with a picture, by stream.
  private(set) var pictures: [String: Int] = [:]
  private(set) var problems: [String] = []

  private var table: PublishedTable

  private static let names = [
    "frame", "timestamp_ns", "color_timestamp_ns", "depth_timestamp_ns", "color", "depth",
    "confidence", "aligned",
  ]

  /// - Parameter family: defines which step is a gap.
  init?(_ table: PublishedTable?, family: FamilyDescription) {
    guard let table else { return nil }
    var steps = StepTally()
    var before: Int64?
    var found = FrameTimes(table)
    let problems = table.read(columns: Self.names) { row in
      found.rows += 1
      for (column, name) in [(4, "color"), (5, "depth"), (6, "confidence"), (7, "aligned")]
      where !row.isEmpty(column) {
        found.pictures[name, default: 0] += 1
      }
      if let color = row.nanoseconds(2), let depth = row.nanoseconds(3) {
        let offset = (Double(color) - Double(depth)) / 1e6
        let old = found.colorLessDepth ?? offset...offset
        found.colorLessDepth = min(old.lowerBound, offset)...max(old.upperBound, offset)
      }
      guard let time = Self.time(row) else { return }
      found.timed += 1
      found.first = min(found.first ?? time, time)
      found.last = max(found.last ?? time, time)
      if let before {
        let step = Double(time) - Double(before)
        if step > 0 { steps.add(step) } else { found.backward += 1 }
      }
      before = time
    }
    found.problems = problems
    found.median = steps.median
    found.longest = steps.longest
    found.threshold = steps.median.map { $0 * family.frameGapFactor }
    self = found
    measureIntervals()
  }

  private init(_ table: PublishedTable) { self.table = table }

  private static func time(_ row: borrowing PublishedTable.Row) -> Int64? {
    row.nanoseconds(1) ?? row.nanoseconds(2) ?? row.nanoseconds(3)
  }

  /// Goes through the rows that have a time once more.
  private func forEachTimed(_ body: (_ frame: Int, _ time: Int64) -> Void) {
    var number = 0
    _ = table.read(columns: Self.names) { row in
      let frame = row.nanoseconds(0).flatMap { Int(exactly: $0) } ?? number
      number += 1
      if let time = Self.time(row) { body(frame, time) }
    }
  }

  /// Seconds since the first frame.
  func seconds(_ time: Int64) -> Double { (Double(time) - Double(first ?? 0)) / 1e9 }

  /// Seconds from the first to the last frame.
  var duration: Double { last.map(seconds) ?? 0 }

  private mutating func measureIntervals() {
    guard timed > 1, duration > 0 else { return }
    var buckets = ColumnBuckets(range: 0...duration, columns: Self.columns)
    var found: [Gap] = []
    var count = 0
    var (before, frameBefore): (Int64?, Int) = (nil, 0)
    let (threshold, origin) = (threshold ?? .infinity, first ?? 0)
    forEachTimed { frame, time in
      if let before {
        let step = Double(time) - Double(before)
        buckets.add(
          at: (Double(time) - Double(origin)) / 1e9, step / 1e6, isAfterGap: step > threshold)
        if step > threshold {
          count += 1
          let (length, isTooLong) = time.subtractingReportingOverflow(before)
          found.append(
            Gap(afterFrame: frameBefore, start: before, length: isTooLong ? .max : length))
          if found.count > 4 * Self.mostGaps { found = Self.longest(found) }
        }
      }
      (before, frameBefore) = (time, frame)
    }
    intervals = buckets
    gapCount = count
    gaps = Self.longest(found)
  }

  private static func longest(_ gaps: [Gap]) -> [Gap] {
    gaps.sorted { $0.length > $1.length }.prefix(mostGaps).sorted { $0.start < $1.start }
  }

  /// For each column of a range of seconds, whether it contains a frame.
  func marks(in range: ClosedRange<Double>) -> [Bool] {
    var marks = [Bool](repeating: false, count: Self.columns)
    let places = ColumnBuckets(range: range, columns: Self.columns)
    forEachTimed { _, time in
      if let column = places.column(of: seconds(time)) { marks[column] = true }
    }
    return marks
  }

  /// For each of some times the last frame at or before it; `nil` before the first.
  func frames(before times: [Int64]) -> [Int?] {
    var frames = [Int?](repeating: nil, count: times.count)
    forEachTimed { frame, time in
      for index in times.indices where time <= times[index] { frames[index] = frame }
    }
    return frames
  }

  /// The gaps as parts of an axis of seconds since the first frame.
  var bands: [StripPlot.Band] {
    gaps.map { gap in
      let (from, length) = (seconds(gap.start), Double(gap.length) / 1e9)
      return StripPlot.Band(
        from: from, to: from + length,
        words: "gap of \(FigureText.duration(length)) after frame \(gap.afterFrame)")
    }
  }
}

/// Reads a CSV table of an artifact row by row; problems are collected, and what can be read is
/// delivered.
struct PublishedTable {
  let path: FilePath
  /// The displayed name: `imu/imu.csv`.
  let name: String
  private let recordedBytes: Int64

  /// `nil` if the artifact does not list it, since the capture has no such data.
  init?(_ file: String, of stage: PublishedStages.Stage?, _ layout: OutputLayout) {
    guard let stage, let record = stage.record, !stage.isRemoved,
      let output = record.outputs.first(where: { $0.path == file })
    else { return nil }
    path = layout.artifact(stage.name).appending(file)
    name = "\(stage.name)/\(file)"
    recordedBytes = output.bytes
  }

  /// The current row: cells by the requested columns.
  struct Row: ~Copyable {
    fileprivate let scanner: CSVScanner
    fileprivate let cells: [Int]

    /// `nil` for an empty cell and for a text that is not a whole number of nanoseconds.
    func nanoseconds(_ column: Int) -> Int64? {
      cells[column] < 0 ? nil : scanner.timestamp(inCell: cells[column])?.nanoseconds
    }
    /// `nil` for a text that is not a finite number.
    func number(_ column: Int) -> Double? {
      cells[column] < 0 ? nil : scanner.number(inCell: cells[column]).value
    }
    func text(_ column: Int) -> String {
      cells[column] < 0 ? "" : scanner.text(inCell: cells[column])
    }
    func isEmpty(_ column: Int) -> Bool {
      cells[column] < 0 || scanner.isEmpty(cell: cells[column])
    }
    func holds(_ column: Int, _ bytes: [UInt8]) -> Bool {
      cells[column] >= 0 && scanner.cell(cells[column], holds: bytes)
    }
  }

  /// Calls `body` for every complete row.
  ///
  /// - Returns: problems of the file, one sentence each; empty for an intact one.
  func read(columns: [String], _ body: (borrowing Row) -> Void) -> [String] {
    guard !FileSystem.isLink(path) else { return ["\(name) is a link; it was not followed."] }
    guard let identity = try? FileIdentity(of: path) else {
      return ["\(name) no longer exists."]
    }
    var problems: [String] = []
    if identity.bytes != recordedBytes {
      problems.append(
        "\(name) has \(ByteCount.text(identity.bytes)), but \(ByteCount.text(recordedBytes)) were "
          + "published: it was changed or cut off. Run the capture again to rebuild it.")
    }
    do throws(FileError) {
      var scanner = try CSVScanner(path)
      guard try scanner.nextLine() else {
        return problems + ["\(name) is empty."]
      }
      let header = (0..<min(scanner.cellCount, 64)).map { scanner.text(inCell: $0) }
      let cells = columns.map { header.firstIndex(of: $0) ?? -1 }
      let missing = zip(columns, cells).filter { $0.1 < 0 }.map(\.0)
      if !missing.isEmpty {
        problems.append("\(name) has no column \(missing.joined(separator: ", ")).")
      }
      while try scanner.nextLine() {
        guard scanner.isLineClosed else {
          problems.append("\(name) ends inside row \(scanner.lineNumber - 1).")
          break
        }
        body(Row(scanner: scanner, cells: cells))
      }
    } catch {
      problems.append("\(name): \(error.reason).")
    }
    return problems
  }
}

/// The median of positive steps of a series of any length, in constant memory. Steps are counted in
/// bins of 1 % width, from 1 ns to about 30 years.
struct StepTally {
  /// Bins per factor of two: 2^(1/64) is 1.09 %.
  private static let perDoubling = 64
  private static let doublings = 60
  private var bins = [Int](repeating: 0, count: perDoubling * doublings)
  private(set) var count = 0
  private(set) var longest = 0.0
  private var sums: [Double] = Array(repeating: 0, count: perDoubling * doublings)

  /// Adds a step in nanoseconds; steps of 0 or less are ignored.
  mutating func add(_ step: Double) {
    guard step >= 1, step.isFinite else { return }
    let exponent = Int(step.exponent)
    let bin =
      exponent * Self.perDoubling + Int((step.significand - 1) * Double(Self.perDoubling))
    let place = min(bin, bins.count - 1)
    bins[place] += 1
    sums[place] += step
    count += 1
    longest = max(longest, step)
  }

  /// The median in nanoseconds: the mean of the steps in its bin; `nil` without steps.
  var median: Double? {
    guard count > 0 else { return nil }
    var rest = (count - 1) / 2
    for (bin, inBin) in bins.enumerated() where inBin > 0 {
      if rest < inBin { return sums[bin] / Double(inBin) }
      rest -= inBin
    }
    return nil
  }
}
