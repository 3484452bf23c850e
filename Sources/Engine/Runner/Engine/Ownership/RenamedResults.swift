import Captures
import Core
import SystemPackage

/// Results of captures whose folder was renamed: they become those of the new name.
public struct RenamedResults: Sendable {
  private let root: FilePath

  public init(root: FilePath) { self.root = root }

  /// Moves a folder of the output to the name that a capture has now. The name; `nil` when that is taken, when the
  /// results belong to a capture that is still there, or when a run works on them.
  ///
  /// The folder is renamed first: should this end in between, its owner is known again by its content.
  public func move(_ name: String, to recognition: Recognition) -> String? {
    let new = OutputLayout(root: root, name: OutputName.of(id: recognition.id))
    let old = OutputLayout(root: root, name: name)
    guard name != new.name, case .owned(var owner) = OutputFolderState(old),
      owner.family == recognition.family, owner.location.isGone,
      case .absent = OutputFolderState(new),
      let open = HeldFolder(root), let notes = old.openNotes(),
      let lock = try? FileLock(in: notes, holder: "scanmill claim")
    else { return nil }
    defer { withExtendedLifetime(lock) {} }
    let record = OwnerRecord(recognition)
    (owner.folder, owner.stem, owner.id) = (record.folder, record.stem, record.id)
    owner.formerNames = ((owner.formerNames ?? []) + [name]).filter { $0 != new.name }
    do {
      try open.renameNew(name, to: open, as: new.name)
      try owner.replace(in: notes)
      return new.name
    } catch {
      return nil
    }
  }

  /// The targets of a run: those without results of their own have what was made from the same capture under another name.
  ///
  /// - Parameters:
  ///   - moves: whether results are moved to the names that captures have now; otherwise targets lead to where they lie.
  ///   - told: is told the former and the present name.
  public func give(
    to targets: [CaptureTarget], moves: Bool, told: (_ former: String, _ name: String) -> Void
  ) throws(FileError) -> [CaptureTarget] {
    let found = try find(targets.filter(\.isNew).map(\.recognition))
    if found.isEmpty { return targets }
    return targets.map { target in
      guard target.isNew, let former = found[CaptureLocation(target.recognition)],
        let name = moves ? move(former, to: target.recognition) : former
      else { return target }
      told(former, OutputName.of(id: target.recognition.id))
      var target = target
      (target.layout, target.claim) = (layout(name), moves ? nil : .move)
      return target
    }
  }

  /// For captures that have no results of their own: the folder of the output that was made from each where it lay
  /// before. Compares the content, as `InputListing.contentKey` does, with that of every owner whose place is gone; then
  /// inodes, sizes and times of single files. Throws where a part of the output cannot be read: of whom its results are is not known.
  ///
  /// Cost: one small file per folder of the output, and a part of each capture.
  public func find(_ captures: [Recognition]) throws(FileError) -> [CaptureLocation: String] {
    guard !captures.isEmpty, FileSystem.isFolder(root) else { return [:] }
    let mark = DeviceErrors.mark
    let names = try FileSystem.names(in: root)
    let places = names.filter { !$0.hasPrefix(".") }.sorted()
    let found = try? concurrentMap(places, share: 32) {
      name -> (name: String, owner: OwnerRecord)? in
      guard let owner = OwnerRecord(in: layout(name)), owner.content != nil, owner.location.isGone
      else { return nil }
      return (name, owner)
    }
    if let failed = DeviceErrors.since(mark, at: root).first { throw failed }
    let owners = (found ?? []).compactMap(\.self)
    guard !owners.isEmpty else { return [:] }
    let keys = try? concurrentMap(count: captures.count) {
      InputListing.contentKey(of: captures[$0])
    }
    let files =
      owners.count <= Self.mostCaches ? Self.files(of: owners.map { layout($0.name) }) : []
    var given: Set<String> = []
    var result: [CaptureLocation: String] = [:]
    for (capture, key) in zip(captures, keys ?? []) {
      let match = owners.first { owner in
        owner.owner.family == capture.family && !given.contains(owner.name) && key != nil
          && owner.owner.content == key
      }
      let name =
        match?.name ?? shared(capture, owners.map { ($0.name, $0.owner.family) }, files, given)
      guard let name else { continue }
      given.insert(name)
      result[CaptureLocation(capture)] = name
    }
    return result
  }

  /// Beyond this many owners whose place is gone their files are not compared: captures that were removed after they
  /// were done are among them.
  private static let mostCaches = 2_000

  private func layout(_ name: String) -> OutputLayout { OutputLayout(root: root, name: name) }

  /// What a renaming leaves of a stamp: it changes the time of change.
  private static func lasting(_ stamp: FileStamp) -> FileStamp {
    var stamp = stamp
    stamp.changedNanoseconds = 0
    return stamp
  }

  /// Stamps of the files of the last run, for each layout.
  private static func files(of layouts: [OutputLayout]) -> [Set<FileStamp>] {
    let found = try? concurrentMap(count: layouts.count) { index in
      Set((CaptureCache(of: layouts[index])?.inputs.entries ?? []).map { Self.lasting($0.stamp) })
    }
    return found ?? []
  }

  /// The one that a file of a capture was a file of: it was renamed, and more of it has come since.
  private func shared(
    _ capture: Recognition, _ owners: [(name: String, family: CaptureFamily)],
    _ files: [Set<FileStamp>], _ given: Set<String>
  ) -> String? {
    guard files.count == owners.count,
      let now = InputListing(capture, nowNanoseconds: .max)
    else { return nil }
    let keys = now.entries.filter { $0.stamp.bytes > 0 }.map { Self.lasting($0.stamp) }
    return zip(owners, files).first { owner, known in
      owner.family == capture.family && !given.contains(owner.name)
        && keys.contains(where: known.contains)
    }?.0.name
  }
}
