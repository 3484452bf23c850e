import Captures
import Core
import SystemPackage

/// `DIR/.scanmill/marks.json`: marks of captures that have no folder in the output, retired ones among them. Absent
/// when there are none.
struct MarkTable: Hashable, Sendable, Codable {
  var schema = 1
  /// By id, then by place.
  var marks: [MarkRecord] = []

  init() {}

  /// Empty where nothing is noted, or the note is damaged.
  init(ofOutput root: FilePath) {
    guard let table = NotesFile.read(MarkTable.self, OutputNames.marks, ofOutput: root),
      table.schema == 1
    else { return }
    self = table
  }

  /// Changes the table under its lock: two commands at a time lose nothing. A change takes milliseconds; who waits
  /// for ten seconds is refused.
  static func update(
    _ root: FilePath, _ change: (inout MarkTable) -> Void
  ) throws(FileError) {
    let notes = try HeldFolder.making(following: root).makeFolder(NotesFile.folderName)
    var looks = 0
    let lock = try FileLock(in: notes, name: OutputNames.marksLock, holder: "scanmill mark") { _ in
      looks += 1
      return looks < 100
    }
    guard let lock else {
      throw FileError(
        .wouldBlock, path: root.appending(NotesFile.folderName).appending(OutputNames.marks),
        operation: "lock")
    }
    defer { withExtendedLifetime(lock) {} }
    var table = MarkTable(ofOutput: root)
    let before = table
    change(&table)
    table.marks.sort {
      ($0.id, $0.folder ?? "", $0.stem ?? "") < ($1.id, $1.folder ?? "", $1.stem ?? "")
    }
    if table == before { return }
    if table.marks.isEmpty { return try notes.remove(OutputNames.marks) }
    guard let bytes = try? JSONText.pretty(table) else { return }
    try notes.replace(OutputNames.marks, with: bytes)
  }

  /// Takes the place of what was noted of the same capture.
  mutating func set(_ record: MarkRecord) {
    remove(like: record)
    marks.append(record)
  }

  mutating func remove(like record: MarkRecord) {
    marks.removeAll { $0.isAboutSame(as: record) }
  }
}

extension MarkRecord {
  /// Places tell captures apart; where one is not known, ids do. No path is made: a thousand that are marked at once are
  /// compared with a thousand others.
  func isAboutSame(as other: MarkRecord) -> Bool {
    if let folder, let otherFolder = other.folder {
      return folder == otherFolder && stem == other.stem
    }
    return id == other.id
  }
}
