import Captures
import Core
import SystemPackage

/// Marks captures of one output, and takes marks back.
public struct Marking: Sendable {
  /// A capture that is to be marked.
  public struct Subject: Hashable, Sendable {
    /// The name of its folder in the output, or what it would be.
    public var id: String
    /// The path of the capture, as `PathText` carries it; `nil`: not known.
    public var folder: String?
    public var stem: String?

    public init(id: String, folder: String?, stem: String?) {
      self.id = id
      self.folder = folder
      self.stem = stem
    }
  }

  /// What became of one of them.
  public struct Outcome: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
      case marked, undone
      /// The capture had no mark.
      case unmarked
      /// A run holds it.
      case locked
      case failed
    }
    public var subject: Subject
    public var kind: Kind
    public var record: MarkRecord?
    /// What else is to be told: where results went, why it was refused.
    public var message: String?
  }

  private let root: FilePath
  private let holder: String

  /// - Parameter holder: what others are told that wait for a lock meanwhile.
  public init(ofOutput root: FilePath, holder: String) {
    self.root = root
    self.holder = holder
    EnclosedPaths.enclose(root, links: .none)
  }

  // MARK: Marking

  /// Marks captures. Results of retired ones are moved to `DIR/.scanmill/retired`, or removed. What a run holds is
  /// left as it was. Cost: some ten system calls for each, one small file for all; reading the files of those that no run
  /// has worked on.
  ///
  /// - Parameter record: makes the mark of a capture.
  public func mark(
    _ subjects: [Subject], removesResults: Bool = false, _ record: (Subject) -> MarkRecord
  ) throws(FileError) -> [Outcome] {
    let before = MarkBook(ofOutput: root)
    var records = subjects.map(record)
    for index in records.indices {
      let known = before.records.first { $0.isAboutSame(as: records[index]) }
      records[index].retired = known?.retired
      // Before results move, with which the digests are noted.
      records[index].noteContents(notedIn: layout(records[index].id))
    }
    // Before anything moves: a watcher that sees results go knows why.
    let retired = records.filter { $0.mark == .retire }
    if !retired.isEmpty {
      try MarkTable.update(root) { table in for record in retired { table.set(record) } }
    }
    var outcomes: [Outcome] = []
    for (subject, record) in zip(subjects, records) {
      outcomes.append(carryOut(record, subject, removesResults))
    }
    let done = outcomes
    try MarkTable.update(root) { table in
      for (outcome, wanted) in zip(done, records) {
        guard outcome.kind == .marked, let record = outcome.record else {
          // As it was.
          guard wanted.mark == .retire else { continue }
          table.remove(like: wanted)
          if let known = before.records.first(where: { $0.isAboutSame(as: wanted) }) {
            table.set(known)
          }
          continue
        }
        if MarkRecord(of: layout(record.id)) == record {
          table.remove(like: record)
        } else {
          table.set(record)
        }
      }
    }
    return outcomes
  }

  private func layout(_ id: String) -> OutputLayout { OutputLayout(root: root, name: id) }

  private func carryOut(
    _ record: MarkRecord, _ subject: Subject, _ removesResults: Bool
  ) -> Outcome {
    var outcome = Outcome(subject: subject, kind: .marked, record: record)
    let layout = layout(subject.id)
    guard FileSystem.exists(layout.folder), isOwn(layout, subject) else { return outcome }
    do throws(FileError) {
      guard let output = try CaptureOutput(existing: layout) else { return outcome }
      guard let lock = try FileLock(in: output.notes, holder: holder)
      else {
        outcome.kind = .locked
        outcome.message =
          "\(FileLock.holder(of: layout.lock) ?? "another run") works on it; mark it when that has ended"
        return outcome
      }
      defer { withExtendedLifetime(lock) {} }
      if record.mark == .retire {
        try output.notes.remove(OutputNames.mark)
        outcome.record?.retired = try removesResults ? remove(output) : move(output)
        outcome.message =
          outcome.record?.retired.map {
            "results are in \(OutputNames.notes)/\(OutputNames.retired)/\($0)"
          } ?? "results are removed"
      } else {
        guard let bytes = try? JSONText.pretty(record) else { return outcome }
        try output.notes.replace(OutputNames.mark, with: bytes)
      }
    } catch {
      outcome.kind = .failed
      outcome.message = "\(error)"
    }
    return outcome
  }

  /// A folder of that name may be that of another capture.
  private func isOwn(_ layout: OutputLayout, _ subject: Subject) -> Bool {
    guard OutputCatalog.isOutput(layout) else { return false }
    guard let folder = subject.folder, let noted = RecordedLocation(of: layout) else { return true }
    return CaptureLocation(FilePath(text: noted.folder), stem: noted.stem)
      == CaptureLocation(FilePath(text: folder), stem: subject.stem)
  }

  // MARK: Comparing

  /// Compares the contents of a capture whose files have other times than those that were marked, and notes what that
  /// has told where it can. Cost: reading the files of the capture.
  @discardableResult
  public func compare(_ record: MarkRecord) -> MarkRecord {
    let layout = layout(record.id)
    guard record.likeness == .otherTimes, let compared = record.compared(notedIn: layout) else {
      return record
    }
    if MarkRecord(of: layout) == record {
      // What a run holds is noted the next time.
      if let output = try? CaptureOutput(existing: layout),
        let lock = try? FileLock(in: output.notes, holder: holder),
        let bytes = try? JSONText.pretty(compared)
      {
        withExtendedLifetime(lock) { try? output.notes.replace(OutputNames.mark, with: bytes) }
      }
    } else {
      try? MarkTable.update(root) { table in
        if table.marks.contains(record) { table.set(compared) }
      }
    }
    return compared
  }

  // MARK: Results

  /// Moves the folder of a capture away; where to.
  private func move(_ output: CaptureOutput) throws(FileError) -> String {
    let retired = try output.root.makeFolder(OutputNames.notes).makeFolder(OutputNames.retired)
    let name = output.layout.name
    for number in 1... {
      let free = number == 1 ? name : "\(name).\(number)"
      if try retired.entry(free) != nil { continue }
      do throws(FileError) {
        try output.root.renameNew(name, to: retired, as: free)
        return free
      } catch {
        // Another process took the name meanwhile.
        if try retired.entry(free) == nil { throw error }
      }
    }
    return name
  }

  /// Removes the folder of a capture: first it leaves the captures in one step, so that a kill leaves no half of it
  /// among them.
  private func remove(_ output: CaptureOutput) throws(FileError) -> String? {
    let name = try move(output)
    let retired = try output.root.makeFolder(OutputNames.notes).makeFolder(OutputNames.retired)
    try retired.remove(name)
    return nil
  }

  // MARK: Undoing

  /// Takes marks back. Results that were moved away move back where nothing else lies in their place.
  public func undo(_ subjects: [Subject]) throws(FileError) -> [Outcome] {
    let book = MarkBook(ofOutput: root)
    var outcomes: [Outcome] = []
    for subject in subjects {
      let probe = MarkRecord(
        .ignore, note: nil, until: "", by: "", at: "", id: subject.id, folder: subject.folder,
        stem: subject.stem)
      outcomes.append(
        undo(subject, noted: book.records.first { $0.isAboutSame(as: probe) }))
    }
    let undone = outcomes.filter { $0.kind == .undone }.compactMap(\.record)
    try MarkTable.update(root) { table in for record in undone { table.remove(like: record) } }
    return outcomes
  }

  private func undo(_ subject: Subject, noted: MarkRecord?) -> Outcome {
    var outcome = Outcome(subject: subject, kind: .unmarked, record: noted)
    let layout = layout(subject.id)
    do throws(FileError) {
      if isOwn(layout, subject), let own = MarkRecord(of: layout),
        let output = try CaptureOutput(existing: layout)
      {
        guard
          let lock = try FileLock(in: output.notes, holder: holder)
        else {
          outcome.kind = .locked
          outcome.message =
            "\(FileLock.holder(of: layout.lock) ?? "another run") works on it; undo it when that has ended"
          return outcome
        }
        defer { withExtendedLifetime(lock) {} }
        try output.notes.remove(OutputNames.mark)
        outcome.record = own
        outcome.kind = .undone
      }
      if let noted {
        outcome.kind = .undone
        outcome.record = noted
        if let name = noted.retired { outcome.message = try moveBack(name, as: noted.id) }
      }
    } catch {
      outcome.kind = .failed
      outcome.message = "\(error)"
    }
    return outcome
  }

  /// What is to be told of it.
  private func moveBack(_ name: String, as id: String) throws(FileError) -> String {
    let output = try HeldFolder.following(root)
    let place = "\(OutputNames.notes)/\(OutputNames.retired)/\(name)"
    guard let retired = try output.folder(OutputNames.notes)?.folder(OutputNames.retired),
      try retired.entry(name) != nil
    else { return "its results are no longer in \(place)" }
    if try output.entry(id) != nil {
      return "its results stay in \(place): a folder \(id) is in the output"
    }
    try retired.renameNew(name, to: output, as: id)
    return "its results are back"
  }
}

/// `DIR/.scanmill/marks.json`: marks of captures that have no folder in the output, retired ones among them. Absent
/// when there are none.
struct MarkTable: Hashable, Codable {
  var schema = 1
  /// The marks by id, then by place.
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
    let notes = try HeldFolder.making(following: root).makeFolder(OutputNames.notes)
    var looks = 0
    let lock = try FileLock(in: notes, name: OutputNames.marksLock, holder: "scanmill mark") { _ in
      looks += 1
      return looks < 100
    }
    guard let lock else {
      throw FileError(
        .wouldBlock, path: root.appending(OutputNames.notes).appending(OutputNames.marks),
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
