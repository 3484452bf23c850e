import Captures
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Takes possession of one output folder.
struct FolderClaim {
  private let layout: OutputLayout
  private let record: OwnerRecord
  private let claim: CaptureTarget.Claim?

  init(_ target: CaptureTarget) {
    layout = target.layout
    record = OwnerRecord(target.recognition)
    claim = target.claim
  }

  /// `false` when another process has taken it meanwhile.
  func take() throws -> Bool {
    switch claim {
    case nil: true
    case .make:
      switch OutputFolderState(layout) {
      case .absent: try make()
      case .vacant: try note { if case .vacant = $0 { true } else { false } }
      // Another process was faster.
      case .owned, .remembered, .described, .foreign: false
      }
    case .adopt:
      try note { state in
        switch state {
        case .vacant, .owned, .remembered, .described: true
        case .absent, .foreign: false
        }
      }
    case .move: try move()
    }
  }

  /// The folder appears with its owner in it: made beside, then renamed to a name that must be free.
  private func make() throws -> Bool {
    // In no folder of their own: one that is swept up when it is empty is missed by the next run, the longer
    // the later a shared disk tells.
    let root = try HeldFolder.making(following: layout.root)
    let claims = try root.makeFolder(NotesFile.folderName)
    let beside = "claim-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let place = try claims.makeFolder(beside)
    defer { try? claims.remove(beside) }
    try place.makeFolder("new").makeFolder(CaptureOutput.notesName)
      .write(JSONText.pretty(record), as: layout.ownerName)
    do throws(FileError) {
      try place.renameNew("new", to: root, as: layout.name)
      return true
    } catch {
      // Another machine's folder may be in the way before this one's view of a shared disk shows it.
      if error.code == .fileExists || error.code == .directoryNotEmpty { return false }
      if try root.entry(layout.name) != nil { return false }
      throw error
    }
  }

  /// Writes the record into the folder that is there. What is written to is what `isRight` is asked about,
  /// whatever has been put in its place since.
  private func note(where isRight: (OutputFolderState) -> Bool) throws -> Bool {
    guard let folder = try HeldFolder.making(following: layout.root).folder(layout.name),
      isRight(OutputFolderState(of: folder, layout))
    else { return false }
    return try record.writeNew(in: folder, layout)
  }

  /// Under the capture's lock: of two runs one rewrites the record, the other finds it rewritten.
  private func move() throws -> Bool {
    guard let folder = try HeldFolder.making(following: layout.root).folder(layout.name) else {
      return false
    }
    let notes = try folder.makeFolder(CaptureOutput.notesName)
    guard
      let lock = try FileLock(in: notes, holder: "scanmill claim", keepWaiting: { _ in false })
    else { return true }
    defer { withExtendedLifetime(lock) {} }
    switch OutputFolderState(of: folder, layout) {
    case .owned(var owner):
      if owner.location == record.location { return true }
      guard owner.location.isGone else { return false }
      (owner.folder, owner.stem, owner.id) = (record.folder, record.stem, record.id)
      try owner.replace(in: notes, layout)
      return true
    case .remembered:
      try record.replace(in: notes, layout)
      return true
    case .absent, .vacant, .described, .foreign: return false
    }
  }
}
