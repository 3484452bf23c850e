import Captures
import Storage
import SystemPackage

/// What a person decided about one capture: `DIR/<capture-id>/.scanmill/mark.json`, or an entry of
/// `DIR/.scanmill/marks.json` (`MarkTable`) where the capture has no folder in the output.
public struct MarkRecord: Hashable, Sendable, Codable {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    /// It needs no person as it is.
    case doneAsIs = "done-as-is"
    /// It needs no person, is not processed and not tried again.
    case ignore
    /// The same, and its results have left the output.
    case retire

    /// Whether a watcher leaves the capture alone.
    public var isLeftAlone: Bool { self != .doneAsIs }
  }

  public var schema = 1
  public var mark: Kind
  public var note: String?
  /// `changed`: until its files change; else a time (UTC, ISO 8601).
  public var until: String
  /// The name of the user.
  public var by: String
  /// UTC, ISO 8601.
  public var at: String
  /// Names, sizes and times of modification of the capture's files then; `nil`: they could not be listed.
  public var stamp: String?
  /// The name of its folder in the output, or what it would be.
  public var id: String
  /// Where the capture lies, as `PathText` carries it; `nil`: not known.
  public var folder: String?
  public var stem: String?
  /// Where its results are below `DIR/.scanmill/retired`; `nil`: nowhere.
  public var retired: String?

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
    stamp = Self.stamp(folder: folder, stem: stem)
  }

  /// `nil` where the place is not known.
  public var location: CaptureLocation? {
    folder.map { CaptureLocation(FilePath(text: $0), stem: stem) }
  }

  /// Of the files as they are. Cost: one system call per file.
  static func stamp(folder: String?, stem: String?) -> String? {
    folder.flatMap { InputListing(folder: $0, stem: stem, nowNanoseconds: .max) }.flatMap {
      // A stem whose files are all gone lists nothing.
      $0.entries.isEmpty && stem != nil ? nil : $0.contentStamp.hex
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
