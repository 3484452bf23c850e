import Core
import SystemPackage

/// What `clean` is about.
public enum CleaningChoice: Hashable, Sendable {
  /// The artifacts of these stages.
  case stages([String])
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
    /// Events and logs of an old run.
    case run
    /// Results of a retired capture, which left the captures for `DIR/.scanmill/retired`.
    case retired
  }

  /// Empty for a run.
  public var capture: String
  public var kind: Kind
  public var stage: String?
  public var path: FilePath
  public var size: FolderSize

  /// The journal of an old run.
  public static func run(_ path: FilePath, _ size: FolderSize) -> Removable {
    Removable(capture: "", kind: .run, path: path, size: size)
  }
}

/// Finds and removes what is not needed. Only folders and files that we made are touched: artifacts with
/// our record in them and what lies in folders of our own. Symbolic links are left where they are.
extension CleaningChoice {
  /// What would be removed of one capture. `intermediates` are the stages that its pipeline does not
  /// keep. Nothing of a capture in whose folder something with our names is not ours.
  public func find(
    _ layout: OutputLayout, intermediates: [String]
  ) throws(FileError) -> [Removable] {
    do throws(FileError) {
      guard let output = try CaptureOutput(existing: layout) else { return [] }
      return try find(output, intermediates: intermediates, isLocked: false)
    } catch {
      if error.kind == .notOurs { return [] }
      throw error
    }
  }

  private func find(
    _ output: CaptureOutput, intermediates: [String], isLocked: Bool
  ) throws(FileError) -> [Removable] {
    var found: [Removable] = []
    switch self {
    case .stages(let stages):
      for stage in stages {
        found += try artifact(stage, .artifact, output)
      }
    case .intermediate, .leftovers:
      for stage in intermediates { found += try artifact(stage, .intermediate, output) }
    case .failed: break
    }
    switch self {
    case .failed, .leftovers: return found + (try leftovers(output, isLocked))
    case .stages, .intermediate: return found
    }
  }

  /// Removes it, holding the lock. `nil` when another process holds that, with nothing removed.
  public func perform(_ layout: OutputLayout, intermediates: [String]) throws(FileError)
    -> [Removable]?
  {
    // Nothing to do makes no lock file either.
    if try find(layout, intermediates: intermediates).isEmpty { return [] }
    guard let output = try CaptureOutput(existing: layout) else { return [] }
    guard
      let lock = try FileLock(
        in: output.notes, holder: FileLock.holderText("clean"))
    else { return nil }
    defer { withExtendedLifetime(lock) {} }
    // What was found above may have changed before the lock was held.
    let found = try find(output, intermediates: intermediates, isLocked: true)
    let attempt = RunID.new().text
    // First: of what is removed and not noted, the next night would think that it was lost.
    let cleaned = found.filter { $0.kind == .artifact }.compactMap(\.stage)
    if !cleaned.isEmpty {
      try CaptureCache.noteCleaned(cleaned, at: RunClock.system.wallText(), in: output)
    }
    for item in found {
      switch (item.kind, item.stage) {
      // The record stays, so that artifacts made from this one remain up to date.
      case (.intermediate, let stage?), (.artifact, let stage?):
        try ArtifactStore(layout).removeIntermediate(stage, in: output, attempt: attempt)
      case (.failed, let stage?): try output.removeFailure(stage)
      default: try remove(item.path, in: output)
      }
    }
    output.tidy()
    return found
  }

  /// Something in one of our own folders.
  private func remove(_ path: FilePath, in output: CaptureOutput) throws(FileError) {
    guard let name = path.lastComponent?.string else { return }
    let above = path.removingLastComponent()
    let folders = [
      output.folder, output.notes, try output.existingStaging(),
      try output.existingRemovedRecords(),
    ]
    try folders.compactMap { $0 }.first { $0.path == above }?.remove(name)
  }

  private func artifact(
    _ stage: String, _ kind: Removable.Kind, _ output: CaptureOutput
  ) throws(FileError) -> [Removable] {
    // With our record of this very stage in it, else it is foreign.
    guard try output.place(stage) == .ours else { return [] }
    return [removable(output.layout.artifact(stage), kind, stage, output)]
  }

  private func leftovers(
    _ output: CaptureOutput, _ isLocked: Bool
  ) throws(FileError) -> [Removable] {
    var found: [Removable] = []
    if let failed = try output.existingFailed() {
      for name in try failed.names() where try CaptureOutput.isFailure(name, in: failed) {
        found.append(removable(failed.path.appending(name), .failed, name, output))
      }
    }
    let sweeping = StagingCleanup(output: output, attempt: nil, isLocked: isLocked)
    for name in try sweeping.leftovers().leftovers {
      // The only copy of a result, which the next run puts back into its place.
      if let parts = StagingName(name), parts.kind == .aside,
        try output.folder.entry(parts.stage) == nil
      {
        continue
      }
      found.append(
        removable(output.layout.stagingRoot.appending(name), .leftover, nil, output))
    }
    for (folder, name) in try sweeping.unfinishedReplacements() {
      found.append(removable(folder.path.appending(name), .leftover, nil, output))
    }
    return found
  }

  private func removable(
    _ path: FilePath, _ kind: Removable.Kind, _ stage: String?, _ output: CaptureOutput
  ) -> Removable {
    Removable(
      capture: output.layout.name, kind: kind, stage: stage, path: path, size: FolderSize(of: path))
  }
}

/// Results of retired captures. `mark undo` brings them back as long as they are there.
extension Removable {
  /// The retired results of an output, by name. Cost: a `stat` of each file.
  public static func retired(in root: FilePath) throws(FileError) -> [Removable] {
    guard let retired = try retiredFolder(root) else { return [] }
    return try retired.list().filter { $0.kind == .folder }.map { entry in
      let place = retired.path.appending(entry.name)
      return Removable(
        capture: entry.name, kind: .retired, stage: nil, path: place, size: FolderSize(of: place))
    }.sorted { $0.capture < $1.capture }
  }

  /// Removes them, and returns what was removed. The captures stay retired.
  public static func removeRetired(in root: FilePath) throws(FileError) -> [Removable] {
    let found = try retired(in: root)
    guard !found.isEmpty, let folder = try retiredFolder(root) else { return [] }
    let names = Set(found.map(\.capture))
    // First: no half of them is brought back after a kill.
    try MarkTable.update(root) { table in
      for index in table.marks.indices where table.marks[index].retired.map(names.contains) == true
      {
        table.marks[index].retired = nil
      }
    }
    for item in found { try folder.remove(item.capture) }
    return found
  }

  private static func retiredFolder(_ root: FilePath) throws(FileError) -> HeldFolder? {
    try HeldFolder.following(root).folder(OutputNames.notes)?.folder(OutputNames.retired)
  }
}
