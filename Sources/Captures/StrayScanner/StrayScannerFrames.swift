import Core
import Media

/// The canonical frames: every number that a row, a file or a picture of the video has.
struct StrayScannerFrames {
  let frames: [CaptureFrame]
  /// Frame of each picture of the video, increasing.
  let frameOfPicture: [Int]
  /// How pictures were paired; `nil` without pictures.
  let pairing: StreamPairing?
  /// Why another pairing of the pictures may be the right one.
  let doubt: String?
  /// The value of `CountedPictures.slack`.
  let slack: Int
  /// Number of frames without row that have a file or picture.
  let framesWithoutRow: Int

  init(_ tables: StrayScannerTables) {
    let rows = tables.odometry.value?.rows ?? []
    let (depth, confidence) = (tables.depth.value, tables.confidence.value)
    let pictures = Self.pictures(tables, rows)
    frameOfPicture = pictures.frames
    (doubt, slack) = (pictures.doubt, pictures.slack)
    let count = max(
      (rows.last?.frame ?? -1) + 1, depth?.numberCount ?? 0, confidence?.numberCount ?? 0,
      (frameOfPicture.last ?? -1) + 1)
    var hasPicture = [Bool](repeating: false, count: count)
    for frame in frameOfPicture { hasPicture[frame] = true }
    var frames = [CaptureFrame](repeating: CaptureFrame(), count: count)
    var paired = 0
    for row in rows {
      let index = row.frame
      // Only the video tells times of early rows; without it they are nominal.
      if tables.generation == .early, !frameOfPicture.isEmpty, index >= frameOfPicture.count {
        continue
      }
      frames[index].timestamp = row.time
      if hasPicture[index] {
        frames[index].colorTimestamp = row.time
        paired += 1
      }
      if depth?.hasFile(index) ?? false { frames[index].depthTimestamp = row.time }
    }
    framesWithoutRow = frames.indices.count { index in
      frames[index].timestamp == nil
        && (hasPicture[index] || depth?.hasFile(index) ?? false
          || confidence?.hasFile(index) ?? false)
    }
    pairing =
      tables.color.value == nil
      ? nil
      : StreamPairing(
        way: pictures.way, partners: rows.isEmpty ? "depth files" : "rows",
        paired: rows.isEmpty
          ? frameOfPicture.count { depth?.hasFile($0) ?? false } : paired,
        items: frameOfPicture.count, isDoubtful: pictures.doubt != nil)
    self.frames = frames
  }

  /// Rows without picture.
  func framesWithoutPicture(_ rows: [StrayScannerOdometry.Row]) -> [Int] {
    rows.lazy.map(\.frame).filter { frames[$0].colorTimestamp == nil }
  }

  private static func pictures(
    _ tables: StrayScannerTables, _ rows: [StrayScannerOdometry.Row]
  ) -> CountedPictures {
    guard let video = tables.color.value else { return CountedPictures([], .rank) }
    let (depth, confidence) = (tables.depth.value, tables.confidence.value)
    let length = max(
      (rows.last?.frame ?? -1) + 1, depth?.numberCount ?? 0, confidence?.numberCount ?? 0)
    let isTimed = tables.generation.hasRealVideoTimes
    if tables.generation == .early || isTimed && rows.isEmpty {
      // Without times, pictures and rows can be matched only by their order, and with files by that of their numbers.
      let lengths = [video.pictureCount, length] + (rows.isEmpty ? [] : [rows.count])
      let difference = (lengths.max() ?? 0) - (lengths.min() ?? 0)
      return CountedPictures(
        Array(0..<video.pictureCount), .rank,
        doubt: difference == 0 || length == 0 ? nil : LossWords.unplaced(difference))
    }
    if isTimed {
      var pictures = timed(video, rows, length: length)
      let times = StreamKeys.times(
        video.pictureNanoseconds, tickNanoseconds: video.tickNanoseconds)
      pictures.doubt = pictures.doubt ?? times.doubt(beside: rows.count, length: length)
      return pictures
    }
    let numbers = Set(rows.map(\.frame))
    // The first picture lies before the movie's own start.
    let showsStart = (video.track.presentationTicks.first ?? 0) < video.track.startTicks
    var counted = CountedPictures(
      video.sixtieths(from: 1), count: video.pictureCount, isFromStart: video.isFromStart,
      showsStart: showsStart, divider: nil, rowStep: rowStep(rows), copyLacksFirst: !showsStart,
      CountedPictures.Partners(
        length: length, count: rows.isEmpty ? length : rows.count,
        has: {
          rows.isEmpty
            ? $0 < length
            : numbers.contains($0) || depth?.hasFile($0) ?? false
              || confidence?.hasFile($0) ?? false
        }))
    guard tables.generation == .png, case .absent = tables.depth, !rows.isEmpty else {
      return counted
    }
    // Depth files tell which version recorded; one of 2021 gave its pictures real times. They fit
    // those of the rows also where the device dropped frames, which a counter does not.
    let timed = Self.timed(video, rows, length: length)
    func outside(_ frames: [Int]) -> Int { frames.count { !numbers.contains($0) } }
    guard timed.way == .time, timed.frames != counted.frames,
      outside(timed.frames) <= outside(counted.frames)
    else { return counted }
    if timed.doubt == nil { return timed }
    if counted.doubt == nil, TimeSteps(rows.map(\.time)).gaps(above: 1.4) > 0 {
      // At most by what the counter leaves out.
      let off = max(
        zip(timed.frames, counted.frames).map { abs($0 - $1) }.max() ?? 0,
        (counted.frames.last ?? 0) + 1 - counted.frames.count)
      counted.doubt =
        "without depth files the version is not known, and with it whether the times of the pictures count "
        + "frames: they \(LossWords.shifted(off))"
    }
    return counted
  }

  /// The counter's step between rows of neighboring numbers, by their median.
  private static func rowStep(_ rows: [StrayScannerOdometry.Row]) -> Int? {
    let steps = zip(rows.dropFirst(), rows).filter { $0.frame == $1.frame + 1 }
      .map { Double($0.time - $1.time) }
    guard !steps.isEmpty else { return nil }
    return Int(exactly: (Median.of(steps) * 60 / 1e9).rounded())
  }

  /// The video's times are real: pictures belong to the rows of the same time, and pictures without
  /// row to the numbers between, as far as there are any.
  ///
  /// - Parameter length: number of frames that rows and files have.
  private static func timed(
    _ video: CaptureVideo, _ rows: [StrayScannerOdometry.Row], length: Int
  ) -> CountedPictures {
    let times = video.pictureNanoseconds
    func matched(with keys: StreamKeys) -> StreamMatch {
      StreamMatch(
        .times(times, tickNanoseconds: video.tickNanoseconds), with: keys,
        nouns: ("picture", "row"),
        endTogether: keys.count >= length)
    }
    var numbers = rows.map(\.frame)
    var match = matched(with: .times(rows.map(\.time.nanoseconds), tickNanoseconds: 1))
    if match.doubt != nil, !rows.isEmpty, length > rows.count {
      // Where rows are lost, their numbers tell between which ones, and a time is known for each.
      var whole = [Timestamp?](repeating: nil, count: length)
      for row in rows { whole[row.frame] = row.time }
      let filled = matched(with: StreamKeys(rows: whole))
      if filled.doubt == nil { (match, numbers) = (filled, Array(0..<length)) }
    }
    let step = TimeSteps(rows.map(\.time)).medianNanoseconds ?? 0
    var frames: [Int] = []
    var next = numbers.first ?? 0
    // Pictures before the first row with one have the numbers before that row's, by their times.
    let early = match.rows.prefix { $0 == nil }.count
    if early < match.rows.count, let row = match.rows[early] {
      let elapsed = early > 0 && step > 0 ? Double(times[early] &- times[0]) / Double(step) : 0
      next = max(0, numbers[row] - max(early, Int(min(elapsed, 1e6).rounded())))
    }
    for (picture, row) in match.rows.enumerated() {
      if let row {
        next = max(next, numbers[row])
      } else if picture > 0, step > 0, match.way == .time {
        let elapsed = Double(times[picture] &- times[picture - 1])
        let limit = match.rows[(picture + 1)...].lazy.compactMap(\.self).first.map {
          numbers[$0] - 1
        }
        let wanted = (frames.last ?? -1) + max(1, Int(min(elapsed / Double(step), 1e6).rounded()))
        next = max(next, min(wanted, limit ?? wanted))
      }
      frames.append(next)
      next += 1
    }
    return CountedPictures(frames, match.way, doubt: match.doubt)
  }
}
