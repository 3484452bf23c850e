import Pipeline
import Storage
import SystemPackage

/// What `clean` is about.
public enum CleaningChoice: Hashable, Sendable {
  /// The artifact of one stage.
  case stage(String)
  /// Artifacts of stages with `keep: false`; their records stay, so that they count as up to date.
  case intermediate
  /// What failed attempts and killed runs left.
  case failed
  /// The two before: all that no result is lost with.
  case leftovers
}

/// Something that can be removed.
public struct Removable: Hashable, Sendable {
  public enum Kind: String, Sendable, Encodable {
    case artifact, intermediate, failed, leftover
  }

  public var capture: String
  public var kind: Kind
  public var stage: String?
  public var path: FilePath
  public var size: FolderSize
}

/// Finds and removes what is not needed. Only folders and files that we made are touched: artifacts with
/// our record in them and what lies in folders of our own. Symbolic links are left where they are.
public struct Cleaning: Sendable {
  public var choice: CleaningChoice

  public init(_ choice: CleaningChoice) {
    self.choice = choice
  }

  /// What would be removed of one capture. `intermediates` are the stages that its pipeline does not
  /// keep.
  public func find(_ layout: OutputLayout, intermediates: [String]) -> [Removable] {
    switch choice {
    case .stage(let stage): artifact(stage, .artifact, layout) + removedRecord(stage, layout)
    case .intermediate: intermediates.flatMap { artifact($0, .intermediate, layout) }
    case .failed: leftovers(layout)
    case .leftovers:
      intermediates.flatMap { artifact($0, .intermediate, layout) } + leftovers(layout)
    }
  }

  /// Removes it, holding the lock. `nil` when somebody else holds that, with nothing removed.
  public func perform(_ layout: OutputLayout, intermediates: [String]) throws(FileError)
    -> [Removable]?
  {
    guard Self.isOwnFolder(layout.folder), !FileSystem.isLink(layout.notes) else { return [] }
    // Nothing to do makes no lock file either.
    if find(layout, intermediates: intermediates).isEmpty { return [] }
    guard
      let lock = try FileLock(
        at: layout.lock, holder: "scanmill clean", keepWaiting: { _ in false })
    else { return nil }
    defer { withExtendedLifetime(lock) {} }
    // Again: what was there may have changed before the lock was held.
    let found = find(layout, intermediates: intermediates)
    for item in found {
      switch (item.kind, item.stage) {
      case (.intermediate, let stage?): try ArtifactShelf(layout).removeIntermediate(stage)
      case (.artifact, _?):
        // The record first: a kill in between leaves no artifact that looks complete.
        try FileSystem.remove(item.path.appending(ArtifactRecord.fileName))
        try FileSystem.remove(item.path)
      default: try FileSystem.remove(item.path)
      }
    }
    for folder in [layout.stagingRoot, layout.failedRoot]
    where (try? FileSystem.names(in: folder)) == [] {
      try FileSystem.remove(folder)
    }
    return found
  }

  private func artifact(
    _ stage: String, _ kind: Removable.Kind, _ layout: OutputLayout
  ) -> [Removable] {
    let folder = layout.artifact(stage)
    // With our record of this very stage in it, else it is somebody else's.
    guard Self.isOwnFolder(folder), !FileSystem.isLink(layout.record(stage)),
      ArtifactShelf.read(ArtifactRecord.self, layout.record(stage))?.stage == stage
    else { return [] }
    return [
      Removable(
        capture: layout.name, kind: kind, stage: stage, path: folder, size: FolderSize(of: folder))
    ]
  }

  /// The record of an intermediate that was removed before: without it the stage was never built.
  private func removedRecord(_ stage: String, _ layout: OutputLayout) -> [Removable] {
    let record = layout.removedRecord(stage)
    guard Self.isOwnFolder(layout.notes), Self.isOwnFolder(layout.removedRecords),
      FileStamp(of: record) != nil
    else { return [] }
    return [
      Removable(
        capture: layout.name, kind: .leftover, stage: stage, path: record,
        size: FolderSize(of: record))
    ]
  }

  private func leftovers(_ layout: OutputLayout) -> [Removable] {
    var found: [Removable] = []
    func add(_ kind: Removable.Kind, _ path: FilePath, stage: String? = nil) {
      found.append(
        Removable(
          capture: layout.name, kind: kind, stage: stage, path: path, size: FolderSize(of: path)))
    }
    func names(_ folder: FilePath) -> [String] {
      Self.isOwnFolder(folder) ? (try? FileSystem.names(in: folder)) ?? [] : []
    }
    for name in names(layout.failedRoot) { add(.failed, layout.failed(name), stage: name) }
    for name in names(layout.stagingRoot) {
      // The only copy of a result, which the next run puts back into its place.
      if let stage = OutputLayout.stage(ofAside: name),
        !FileSystem.exists(layout.artifact(stage))
      {
        continue
      }
      add(.leftover, layout.stagingRoot.appending(name))
    }
    for folder in [layout.folder, layout.notes] {
      for name in names(folder) where name.hasPrefix(".") && name.hasSuffix(".new") {
        add(.leftover, folder.appending(name))
      }
    }
    return found
  }

  /// A folder itself, not a link to one.
  private static func isOwnFolder(_ path: FilePath) -> Bool {
    FileSystem.isFolder(path) && !FileSystem.isLink(path)
  }
}
