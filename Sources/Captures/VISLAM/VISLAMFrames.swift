import Core
import Media
import SystemPackage

/// Pictures and rows joined to canonical frames.
struct VISLAMFrames {
  let frames: JoinedFrames
  /// Whether frame times are those of rows, which use the IMU's clock.
  let hasRows: Bool
  let pictures: VISLAMPictures
  let rows: [VISLAMFrameTable.Row]
  /// Number of gaps between rows.
  let gaps: Int
  /// Which row each picture of a video belongs to; `nil` without a video or rows.
  private(set) var match: StreamMatch?

  /// Joins pictures and rows, and reports those without a counterpart.
  init(
    _ pictures: VISLAMPictures, _ table: StreamState<VISLAMFrameTable>, _ warnings: WarningCollector
  ) {
    self.pictures = pictures
    rows = table.value?.rows ?? []
    gaps = table.value?.gaps ?? 0
    hasRows = !rows.isEmpty
    let times = rows.map(\.timestamp)
    switch pictures {
    case .none, .unreadable:
      frames = JoinedFrames(rows: times) { _ in false }
    case .stills(let stills):
      frames = JoinedFrames(
        rows: times, hasPicture: { stills.ofRows[$0] != nil },
        untimedPictures: stills.surplus.count)
    case .video(let video):
      guard hasRows else {
        frames = JoinedFrames(pictures: video.pictureNanoseconds)
        break
      }
      let match = StreamMatch(
        .times(video.pictureNanoseconds, tickNanoseconds: video.tickNanoseconds),
        with: .times(times.map(\.nanoseconds), tickNanoseconds: 1),
        nouns: ("picture", "row"), hidden: video.track.hidden)
      frames = JoinedFrames(rows: times, pictures: video.pictureNanoseconds, match: match)
      self.match = match
      warnings.add(
        .pairingApproximate, "video", count: match.isProved ? 0 : video.pictureCount,
        match.doubt ?? "")
    }
    if table.error == nil { report(to: warnings) }
  }

  var usesStills: Bool {
    switch pictures {
    case .none, .unreadable, .video: false
    case .stills: true
    }
  }

  private func report(to warnings: WarningCollector) {
    warnings.add(
      .timestampsMissing, hasRows ? "video" : VISLAMFiles.frameFile,
      count: frames.picturesWithoutRow,
      "pictures without a row of the frame table; their time is the video's")
    if hasRows, case .video = pictures {
      warnings.add(
        .frameCountMismatch, "video",
        count: frames.rowsWithoutPicture + frames.picturesWithoutRow, lengths)
    }
  }

  /// Which pictures and rows lack the other, where the times prove it.
  private var lengths: String {
    let missing = frames.frames.indices.filter { frames.frames[$0].colorTimestamp == nil }
    let surplus = frames.rowOfFrame.indices.filter { frames.rowOfFrame[$0] == nil }
    let counts = "\(frames.frameOfPicture.count) pictures, \(rows.count) rows: "
    guard match?.isProved ?? false else {
      return counts + "the times do not prove which of them are missing"
    }
    return counts
      + [
        LossWords.pictures(missing, of: frames.frames.count),
        surplus.isEmpty
          ? nil
          : "no row has the time of \(Plural.word(surplus.count, "frame")) "
            + NumberWords.list(surplus),
      ].compactMap(\.self).joined(separator: "; ")
  }
}

extension VISLAMFrames {
  /// The color stream. Rows whose size differs from that of the pictures are reported.
  func color(declaredFrames: Int?, _ warnings: WarningCollector) -> StreamState<ColorStream> {
    switch pictures {
    case .none: return .absent("no video and no stills")
    case .unreadable(let error): return .unreadable(error)
    case .video(let video):
      reportSizes(warnings, video.track.storedSize)
      VideoOddities(video.track).report(to: warnings)
      if video.otherTracks > 0 {
        warnings.add(
          .multipleStreams, "video", count: video.otherTracks,
          "further video tracks in \(video.name); not used")
      }
      if video.endsEarly {
        warnings.add(
          .truncatedStream, video.name,
          "the video ends before its own index says; what is there is used")
      }
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "video",
          "the rotation in the display matrix is not a multiple of 90°: pictures stay as stored")
      }
      var description = video.description(declaredFrames: declaredFrames)
      describeTimes(&description)
      return .present(
        video.stream(description, framesOfPictures: frames.frameOfPicture))
    case .stills(let stills): return color(stills.all, declaredFrames, warnings)
    }
  }

  private func color(
    _ stills: [FilePath], _ declaredFrames: Int?, _ warnings: WarningCollector
  ) -> StreamState<ColorStream> {
    guard !stills.isEmpty else { return .absent("no still that a row names is there") }
    do throws(CaptureError) {
      // The size is that of the first readable still: a damaged one must not hide the others.
      let still = try CaptureStill(firstReadable: stills.prefix(16))
      reportSizes(warnings, still.stored)
      var description = StreamDescription(
        file: VISLAMFiles.stillsFolder, encoding: still.encoding, width: still.size.width,
        height: still.size.height, frames: stills.count, declaredFrames: declaredFrames)
      describeTimes(&description)
      return .present(
        ColorStream(
          source: .stills(stills), description: description,
          clockwiseQuarterTurns: still.orientation.clockwiseQuarterTurns,
          frameOfPicture: frames.frameOfPictureUnlessPlain,
          isMirrored: still.orientation.isMirrored))
    } catch {
      return .unreadable(error)
    }
  }

  private func describeTimes(_ description: inout StreamDescription) {
    let times = frames.frames.compactMap(\.colorTimestamp)
    description.firstTimestamp = times.first
    description.lastTimestamp = times.last
    description.rateHz = TimeSteps(frames.frames.compactMap(\.timestamp)).rateHz
    description.gaps = gaps
    description.pairing = pairing
    description.readoutSeconds =
      Median.upper(frames.rowOfFrame.compactMap { $0.flatMap { rows[$0].readoutSeconds } })
      ?? description.readoutSeconds
  }

  private var pairing: StreamPairing? {
    guard hasRows else { return nil }
    let pictures = frames.frameOfPicture.count
    let paired = pictures - frames.picturesWithoutRow
    if let match {
      return StreamPairing(
        way: match.way, partners: "rows", paired: paired, items: pictures,
        isDoubtful: !match.isProved)
    }
    guard case .stills(let stills) = self.pictures else { return nil }
    return StreamPairing(
      way: stills.way, partners: "rows", paired: paired, items: pictures,
      isDoubtful: stills.isDoubtful)
  }

  private func reportSizes(_ warnings: WarningCollector, _ size: PictureSize) {
    let others = rows.count {
      ($0.width ?? size.width) != size.width || ($0.height ?? size.height) != size.height
    }
    warnings.add(
      .sizeMismatch, VISLAMFiles.frameFile, count: others,
      "rows that state another picture size than \(size.width)x\(size.height)")
  }

  /// Exposure and sensitivity of the rows that have them.
  func cameraSettings(_ table: StreamState<VISLAMFrameTable>) -> StreamState<CameraSettingsStream> {
    table.then { table in
      guard table.hasCameraSettings else {
        return .absent("\(table.file) has no columns for exposure and ISO")
      }
      let settings = frames.rowOfFrame.enumerated().compactMap { frame, row -> CameraSettingsRow? in
        guard let row = row.map({ rows[$0] }), row.exposureSeconds != nil || row.iso != nil else {
          return nil
        }
        return CameraSettingsRow(
          frame: frame, exposureSeconds: row.exposureSeconds, iso: row.iso)
      }
      var description = StreamDescription(file: table.file, encoding: "csv", frames: settings.count)
      description.firstTimestamp = settings.first.flatMap { frames.frames[$0.frame].timestamp }
      description.lastTimestamp = settings.last.flatMap { frames.frames[$0.frame].timestamp }
      return .present(CameraSettingsStream(description: description, rows: settings))
    }
  }
}

/// The rows of the frame table, one per camera frame, sorted by time.
struct VISLAMFrameTable {
  struct Row {
    var timestamp: Timestamp
    /// The app's number of the frame. Never an index: it may have gaps and start anywhere.
    var number: Int?
    /// `nil` = unknown, for which the app writes 0.
    var exposureSeconds: Double?
    var iso: Double?
    /// How long the rows of the picture are read out, one after the other (rolling shutter).
    var readoutSeconds: Double?
    /// Focal length in pixels of a picture of `width` x `height`.
    var focalLength: Double?
    var width: Int?
    var height: Int?
    /// The picture that the row names.
    var imageName: String?
  }

  static let ownOrder = [
    "frame_number", "timestamp_ns", "exposure_duration", "iso", "focal_length", "width", "height",
  ]
  private static let siblingColumns: Set<String> = [
    "exposure_time_ns", "focal_length_mm", "focal_length_px", "rolling_shutter_skew_ns",
    "image_filename",
  ]

  let path: FilePath
  let file: String
  private(set) var rows: [Row] = []
  /// Whether there is any row, usable or not.
  private(set) var hasRows = false
  /// Whether the file ends inside a line.
  private(set) var isCut: Bool
  private(set) var hasSiblingForm = false
  private(set) var hasExposureInNanoseconds = false
  private(set) var hasImageNames = false
  private(set) var hasCameraSettings = false
  /// Number of steps above 1.4 × the median step.
  private(set) var gaps = 0

  /// Reads, sorts and checks the table. Throws when the time column is missing or the clock did not
  /// advance.
  init(_ path: FilePath, warnings: WarningCollector) throws(CaptureError) {
    self.path = path
    var table = try RowTable(path, ownOrder: Self.ownOrder, isRow: Self.isRow)
    file = table.file
    isCut = table.isCut
    guard table.hasContent, !(table.hasHeader && table.isCut) else {
      warnings.addCut(file, isCut)
      return
    }
    let columns = try Columns(table)
    hasSiblingForm = !Self.siblingColumns.isDisjoint(with: table.columns.keys)
    hasExposureInNanoseconds = columns.exposureNanoseconds != nil
    hasImageNames = columns.imageName != nil
    hasCameraSettings =
      columns.exposureSeconds != nil || columns.exposureNanoseconds != nil || columns.iso != nil
    warnings.addUnknown(
      columns: table.unknownColumns(Self.siblingColumns.union(Self.ownOrder)), file)

    try table.readRows(needed: [columns.timestamp]) { take(&$0, columns) }
    hasRows = table.hasRows
    isCut = table.isCut
    warnings.addCut(file, isCut)
    table.leaveOutFar(&rows) { $0.timestamp }
    table.damage.report(to: warnings, file)
    warnings.add(
      .nonFiniteValue, file, count: table.damage.nonFinite,
      "values that are not finite; taken as unknown")
    guard !rows.isEmpty || !hasRows else {
      throw table.unusable
    }
    try refuseStaleTimes(warnings)
    sort(warnings)
  }

  /// Takes the current row; `false` if it has no usable time.
  private mutating func take(_ table: inout RowTable, _ columns: Columns) -> Bool {
    guard let time = table.scanner.timestamp(inCell: columns.timestamp), time.nanoseconds > 0 else {
      return false
    }
    var isDamaged = false
    func known(_ column: Int?) -> Double? {
      switch table.number(column) {
      case .finite(let value): return value > 0 ? value : nil
      case .empty: return nil
      case .nonFinite: table.damage.nonFinite += 1
      case .invalid: isDamaged = true
      }
      return nil
    }
    var row = Row(timestamp: time)
    if case .finite(let number) = table.number(columns.number) { row.number = Int(exactly: number) }
    row.exposureSeconds =
      known(columns.exposureNanoseconds).map { $0 / 1e9 } ?? known(columns.exposureSeconds)
    row.iso = known(columns.iso)
    row.readoutSeconds = known(columns.readoutNanoseconds).map { $0 / 1e9 }
    row.focalLength = known(columns.focalLength)
    row.width = known(columns.width).flatMap { Int(exactly: $0) }
    row.height = known(columns.height).flatMap { Int(exactly: $0) }
    if let column = columns.imageName, table.hasValue(column) {
      row.imageName = table.scanner.text(inCell: column)
    }
    // The row is kept, and counts once however many of its cells have text for a number.
    if isDamaged { table.drop() }
    rows.append(row)
    return true
  }

  /// Applies the rules for order, duplicates and gaps, in that order.
  private mutating func sort(_ warnings: WarningCollector) {
    var order = TimeOrder()
    for row in rows { order.add(row.timestamp) }
    order.report(to: warnings, subject: file)
    rows.sort { $0.timestamp < $1.timestamp }
    if let (times, found) = TruncatedTimes.spread(rows.map(\.timestamp)), found.hasCoarseStep {
      for (index, time) in times.enumerated() { rows[index].timestamp = time }
      warnings.add(
        .timestampsTruncated, file, count: found.count, found.words(of: "rows of \(file)"))
    }
    var kept: [Row] = []
    kept.reserveCapacity(rows.count)
    for row in rows where kept.last?.timestamp != row.timestamp { kept.append(row) }
    warnings.add(
      .timestampsDuplicate, file, count: rows.count - kept.count,
      "rows at a time that an earlier row already has; the first in the file was kept")
    rows = kept
    let steps = TimeSteps(rows.map(\.timestamp))
    gaps = steps.gaps(above: VISLAMReader.description.frameGapFactor)
    warnings.addGaps(steps, of: rows.count, VISLAMReader.description, file, cause: nil)
  }

  private func refuseStaleTimes(_ warnings: WarningCollector) throws(CaptureError) {
    guard let stale = TimeMajority.stale(rows.map(\.timestamp)) else { return }
    let time = stale.time.nanoseconds
    let problem = "\(stale.count) of \(rows.count) rows have the same time, \(time)"
    warnings.add(.timestampsStale, file, problem)
    throw CaptureError(
      file: path, problem: problem + ": the clock did not advance",
      correction: "leave the file out to take the video's own times")
  }

  /// Whether a line without header is a row in the app's column order.
  static func isRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount >= ownOrder.count && scanner.timestamp(inCell: 1) != nil
      && ownOrder.indices.allSatisfy { scanner.number(inCell: $0) != .invalid }
  }

  private struct Columns {
    var timestamp: Int
    var number, exposureSeconds, exposureNanoseconds, iso, readoutNanoseconds, focalLength, width,
      height, imageName: Int?

    init(_ table: RowTable) throws(CaptureError) {
      guard let time = table.columns["timestamp_ns"] else {
        throw table.lacks(["timestamp_ns"], of: ownOrder)
      }
      timestamp = time
      number = table.columns["frame_number"]
      exposureSeconds = table.columns["exposure_duration"]
      exposureNanoseconds = table.columns["exposure_time_ns"]
      iso = table.columns["iso"]
      readoutNanoseconds = table.columns["rolling_shutter_skew_ns"]
      focalLength = table.columns["focal_length_px"]
      width = table.columns["width"]
      height = table.columns["height"]
      imageName = table.columns["image_filename"]
    }
  }
}
