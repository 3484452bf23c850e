import Media
import Core
import SystemPackage

/// The rows of the frame table, one per camera frame, sorted by time.
struct VISLAMFrameTable {
  struct Row: Sendable {
    var timestamp: Timestamp
    /// `nil` = unknown, for which the app writes 0.
    var exposureSeconds: Double?
    var iso: Double?
    /// How long the rows of the picture are read out, one after the other (rolling shutter).
    var readoutSeconds: Double?
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
    func known(_ column: Int?) -> Double? {
      switch table.number(column) {
      case .finite(let value): return value > 0 ? value : nil
      case .empty: return nil
      case .nonFinite: table.damage.nonFinite += 1
      case .invalid: table.drop()
      }
      return nil
    }
    var row = Row(timestamp: time)
    row.exposureSeconds =
      known(columns.exposureNanoseconds).map { $0 / 1e9 } ?? known(columns.exposureSeconds)
    row.iso = known(columns.iso)
    row.readoutSeconds = known(columns.readoutNanoseconds).map { $0 / 1e9 }
    row.width = known(columns.width).flatMap { Int(exactly: $0) }
    row.height = known(columns.height).flatMap { Int(exactly: $0) }
    if let column = columns.imageName, table.hasValue(column) {
      row.imageName = table.scanner.text(inCell: column)
    }
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
    gaps = TimeSteps(rows.map(\.timestamp)).gaps(
      above: VISLAMReader.description.frameGapFactor)
    warnings.add(
      .frameGap, file, count: gaps, of: .size(rows.count),
      "steps between frames above 1.4 times the median step")
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
    var exposureSeconds, exposureNanoseconds, iso, readoutNanoseconds, width, height,
      imageName: Int?

    init(_ table: RowTable) throws(CaptureError) {
      guard let time = table.columns["timestamp_ns"] else {
        throw table.lacks(["timestamp_ns"], of: ownOrder)
      }
      timestamp = time
      exposureSeconds = table.columns["exposure_duration"]
      exposureNanoseconds = table.columns["exposure_time_ns"]
      iso = table.columns["iso"]
      readoutNanoseconds = table.columns["rolling_shutter_skew_ns"]
      width = table.columns["width"]
      height = table.columns["height"]
      imageName = table.columns["image_filename"]
    }
  }
}
