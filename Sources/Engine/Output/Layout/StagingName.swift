import Core
import SystemPackage

/// The name of something in `.staging`: an attempt at a stage (`STAGE.ID`), an old artifact that waits
/// while a new one takes its place (`~STAGE.ID`), or one that is about to be removed (`~~STAGE.ID`). `~` is
/// in no stage name; the id is that of the run, or of one of several attempts in it.
struct StagingName: Hashable {
  enum Kind: String, CaseIterable {
    case attempt = ""
    case aside = "~"
    case trash = "~~"
  }

  var kind: Kind
  var stage: String
  var run: RunID

  /// Fails if the name is not ours: the run id tells.
  init?(_ name: String) {
    guard let dot = name.lastIndex(of: "."),
      let run = RunID(String(name[name.index(after: dot)...]))
    else { return nil }
    let head = name[..<dot]
    kind = head.hasPrefix("~~") ? .trash : head.hasPrefix("~") ? .aside : .attempt
    stage = String(head.dropFirst(kind.rawValue.count))
    guard !stage.isEmpty else { return nil }
    self.run = run
  }
}

/// Whether what another run left in staging may go.
struct StagingAge {
  /// What was not changed for so long is at work no more. A stage that makes no progress is
  /// stopped much earlier.
  static let secondsOfYouth: Int64 = 3600

  /// The time now, on the clock of the file system.
  let nowNanoseconds: Int64

  /// Whether anything at or below `name` was changed within the hour; a time in the future counts.
  func isYoung(_ name: String, in folder: HeldFolder) throws(FileError) -> Bool {
    guard let entry = try folder.entry(name) else { return false }
    let (age, overflow) = nowNanoseconds.subtractingReportingOverflow(entry.modifiedNanoseconds)
    if overflow || age < Self.secondsOfYouth * 1_000_000_000 { return true }
    guard entry.kind == .folder, let inner = try folder.folder(name) else { return false }
    for child in try inner.names() where try isYoung(child, in: inner) { return true }
    return false
  }
}
