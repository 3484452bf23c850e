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
    folder.flatMap {
      InputContents.digest(folder: $0, stem: stem, notedIn: layout, readsAll: true)?.hex
    }
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
