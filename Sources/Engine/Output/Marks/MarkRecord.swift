import Captures
import Core
import SystemPackage

/// What a person decided about one capture: `DIR/<capture-id>/.scanmill/mark.json`, or an entry of
/// `DIR/.scanmill/marks.json` (`MarkTable`) where the capture has no folder in the output.
public struct MarkRecord: Hashable, Sendable, Codable {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    /// The capture needs no person as it is.
    case doneAsIs = "done-as-is"
    /// The capture needs no person, is not processed and not tried again.
    case ignore
    /// It needs no person, is not processed and not tried again, and its results have left the output.
    case retire

    /// Whether a watcher leaves the capture alone.
    var isLeftAlone: Bool { self != .doneAsIs }
  }

  public var schema = 1
  public var mark: Kind
  public var note: String?
  /// `changed`: until its files change; else a time (UTC, ISO 8601).
  public var until: String
  /// The name of the user.
  public var by: String
  /// The time of the mark in UTC (ISO 8601).
  public var at: String
  /// Names, sizes and times of modification of the capture's files then, or when they were last found to hold the same;
  /// `nil`: they could not be listed.
  var stamp: String?
  /// Names and sizes then.
  var sizes: String?
  /// Names, sizes and contents then; `nil`: not read, so times decide.
  var contents: String?
  /// What `stamp` would be of files that were compared and hold something else.
  var others: String?
  /// The name of its folder in the output, or what it would be.
  public var id: String
  /// The path of the capture, as `PathText` carries it; `nil`: not known.
  public var folder: String?
  public var stem: String?
  /// The folder of its results below `DIR/.scanmill/retired`; `nil`: there are none.
  public internal(set) var retired: String?

  public static let untilChanged = "changed"

  public init(
    _ mark: Kind, note: String?, until: String, by: String, at: String, id: String,
    folder: String?, stem: String?
  ) {
    self.mark = mark
    self.note = note
    self.until = until
    self.by = by
    self.at = at
    self.id = id
    self.folder = folder
    self.stem = stem
    let files = files
    stamp = files?.contentStamp.hex
    sizes = files?.sizeStamp.hex
  }

  /// How the files of the capture are, compared with those that were marked.
  public enum Likeness: Hashable, Sendable {
    /// The files have the same names, sizes and times, or cannot be listed.
    case same
    /// By names and sizes; only contents can tell. The mark counts until they were compared.
    case otherTimes
    case changed
  }

  /// Cost: one system call per file.
  public var likeness: Likeness {
    guard let files else { return .same }
    let now = files.contentStamp.hex
    if now == stamp { return .same }
    guard contents != nil, now != others, files.sizeStamp.hex == sizes else { return .changed }
    return .otherTimes
  }

  /// Takes note of the contents of the files. Cost: reading those of which no run has noted a digest, as long as they
  /// have the same times.
  mutating func noteContents(notedIn layout: OutputLayout) {
    guard until == Self.untilChanged else { return }
    contents = contents(notedIn: layout)
  }

  /// The record with what comparing the contents of files with other times has told; `nil`: they cannot be read. Cost:
  /// reading all files.
  func compared(notedIn layout: OutputLayout) -> MarkRecord? {
    guard let now = files?.contentStamp.hex, let found = contents(notedIn: layout),
      files?.contentStamp.hex == now
    else { return nil }
    var record = self
    if found == contents { record.stamp = now } else { record.others = now }
    return record
  }

  private func contents(notedIn layout: OutputLayout) -> String? {
    files?.contents(notedIn: layout, readsAll: true)?.hex
  }

  /// `nil` where the place is not known.
  var location: CaptureLocation? {
    folder.map { CaptureLocation(FilePath(text: $0), stem: stem) }
  }

  /// The files as they are; `nil`: they cannot be listed. Cost: one system call per file.
  private var files: InputListing? {
    folder.flatMap { InputListing(folder: $0, stem: stem, nowNanoseconds: .max) }.flatMap {
      // A stem whose files are all gone lists nothing.
      $0.isThere ? $0 : nil
    }
  }

  /// What is noted in the folder of a capture; `nil`: nothing, or it is damaged.
  init?(of layout: OutputLayout) {
    guard FileSystem.exists(layout.notes.appending(OutputNames.mark)),
      let record = NotesFile.read(MarkRecord.self, OutputNames.mark, of: layout),
      record.schema == 1
    else { return nil }
    self = record
  }
}

/// A mark and whether it counts now.
public struct CaptureMark: Hashable, Sendable, Codable {
  /// Why a mark counts no more.
  public enum End: String, Hashable, Sendable, Codable {
    /// The capture's files are others than they were.
    case changed
    /// The mark's date has passed.
    case date
  }

  public var mark: MarkRecord.Kind
  public var note: String?
  /// `changed`, or a time (UTC, ISO 8601).
  public var until: String
  public var by: String
  /// The time of the mark in UTC (ISO 8601).
  public var at: String
  /// `nil`: it counts.
  public var ended: End?

  /// Looks at the capture's files where the mark lasts until they change; none is read. Cost: one system call per file.
  ///
  /// - Parameter likeness: of the files, where it is known.
  public init(
    _ record: MarkRecord, nowNanoseconds: Int64 = FileStamp.nowNanoseconds(),
    likeness: MarkRecord.Likeness? = nil
  ) {
    (mark, note, until) = (record.mark, record.note, record.until)
    (by, at) = (record.by, record.at)
    if let end = UTCText.nanoseconds(record.until) {
      if nowNanoseconds >= end { ended = .date }
    } else if (likeness ?? record.likeness) == .changed {
      ended = .changed
    }
  }

  /// Whether it counts: a capture with such a mark needs no person.
  public var isCurrent: Bool { ended == nil }
  /// Whether the capture is neither processed by a watcher nor tried again.
  public var isLeftAlone: Bool { isCurrent && mark.isLeftAlone }
  public var isRetired: Bool { isCurrent && mark == .retire }

  /// `marked ignore by anna at 2026-11-23T22:00:00Z until its files change: too dark`.
  public var words: String {
    let limit = until == MarkRecord.untilChanged ? "until its files change" : "until \(until)"
    let told = "\(mark.rawValue) by \(by) at \(at)"
    let reason = note.map { ": \($0.onOneLine)" } ?? ""
    switch ended {
    case nil: return "marked \(told) \(limit)\(reason)"
    case .changed: return "its mark counts no more, its files have changed (\(told)\(reason))"
    case .date: return "its mark counts no more, its date has passed (\(told) \(limit)\(reason))"
    }
  }
}

/// The marks of an output. Everything that asks whether a capture is marked asks here: status, report, pages, the
/// watcher and `run`.
public struct MarkBook: Sendable {
  private let byLocation: [CaptureLocation: MarkRecord]
  /// Marks of captures whose place is not known.
  private let byID: [String: MarkRecord]
  /// Marks that stand in no folder of a capture, by id.
  public let records: [MarkRecord]

  /// Cost: one small file.
  public init(ofOutput root: FilePath) {
    records = MarkTable(ofOutput: root).marks
    byLocation = Dictionary(
      records.compactMap { record in record.location.map { ($0, record) } }
    ) { _, last in last }
    byID = Dictionary(records.filter { $0.folder == nil }.map { ($0.id, $0) }) { _, last in last }
  }

  /// What is noted of a capture, whether it counts or not. Cost: one system call.
  ///
  /// - Parameters:
  ///   - layout: its folder in the output, which need not exist.
  ///   - location: where it lies, without links.
  ///   - isUnmarked: whether it is known that its own folder has no mark; it is not looked at then.
  public func record(
    of layout: OutputLayout?, at location: CaptureLocation?, isUnmarked: Bool = false
  ) -> MarkRecord? {
    if !isUnmarked, let layout, let own = MarkRecord(of: layout) { return own }
    if let location, let found = byLocation[location] { return found }
    return layout.flatMap { byID[$0.name] }
  }

  /// The mark of a capture and whether it counts; `nil`: it has none.
  public func mark(
    of layout: OutputLayout?, at location: CaptureLocation?, isUnmarked: Bool = false,
    nowNanoseconds: Int64 = FileStamp.nowNanoseconds()
  ) -> CaptureMark? {
    record(of: layout, at: location, isUnmarked: isUnmarked).map {
      CaptureMark($0, nowNanoseconds: nowNanoseconds)
    }
  }

  /// Retired captures whose mark counts.
  func retired(nowNanoseconds: Int64 = FileStamp.nowNanoseconds()) -> [(
    record: MarkRecord, mark: CaptureMark
  )] {
    records.compactMap { record in
      guard record.mark == .retire else { return nil }
      let mark = CaptureMark(record, nowNanoseconds: nowNanoseconds)
      return mark.isRetired ? (record, mark) : nil
    }
  }
}
