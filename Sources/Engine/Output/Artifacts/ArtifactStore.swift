import Captures
import Core
import FoundationEssentials
import SystemPackage

/// The published artifacts of one capture.
public struct ArtifactStore: Sendable {
  let layout: OutputLayout
  /// Copies of records, by stage; each counts only while its file has not changed.
  private let index: RecordIndex?
  /// The folder of the capture, held open for planning: thousands of looks without walking its path. `nil` where it
  /// is not there, or a run is at work in it.
  private let folder: HeldFolder?
  /// The open output of a store that is used for one look.
  private let open: OpenOutput?
  /// The folder of intermediates of the run at work, which is looked into before the output.
  package let scratch: CaptureOutput?

  public init(_ layout: OutputLayout) {
    self.init(layout, index: nil, scratch: nil)
  }

  /// The store of an output that is held open.
  init(_ open: OpenOutput, index: RecordIndex? = nil) {
    layout = open.layout
    self.open = open
    self.index = index
    scratch = nil
    folder = open.folder
  }

  init(_ layout: OutputLayout, index: RecordIndex? = nil, scratch: CaptureOutput? = nil) {
    self.layout = layout
    self.index = index
    self.scratch = scratch
    open = nil
    folder = scratch == nil ? HeldFolder(layout.folder, followsLast: false) : nil
  }

  /// The record of `stage`, also of an intermediate that was removed; its outputs are not looked at.
  /// `nil` for one that is not to be believed.
  public func record(_ stage: String) -> ArtifactRecord? { entry(stage)?.believedRecord }

  /// What is published of `stage`: its record and whether every listed output is there with its
  /// recorded size (and digest, if `verify`). `nil` when there is no complete artifact.
  public func published(_ stage: String, verify: Bool) -> PublishedArtifact? {
    guard var found = entry(stage) else { return nil }
    if found.state == .intact { found.state = state(of: found, verify: verify) }
    return found
  }

  /// The files in the folder of an artifact that its record does not list, sorted.
  func unlisted(in stage: String) -> [String] {
    guard let found = entry(stage), found.state == .intact else { return [] }
    let listed = Set(found.record.outputs.map(\.path) + [ArtifactRecord.fileName])
    var names: [String] = []
    func look(in folder: HeldFolder?, _ prefix: String) {
      for (name, kind) in (try? folder?.list()) ?? [] {
        if kind == .folder {
          look(in: folder?.below(name), prefix + name + "/")
        } else if !listed.contains(prefix + name), !IgnoredFiles.contains(name) {
          names.append(prefix + name)
        }
      }
    }
    look(in: HeldFolder(place(of: found), followsLast: false), "")
    return names.sorted()
  }

  /// Why it is not known whether files of an artifact are missing; `nil`: they are.
  package func unknown(_ names: [String], of stage: String) -> FileError? {
    let place = layout.artifact(stage)
    for name in names {
      let path = place.pushing(FilePath(text: name))
      do throws(Errno) {
        _ = try FileStatus(of: path, followsLast: false)
      } catch {
        let error = FileError(error, path: path, operation: "look at")
        if error.leavesUnknown { return error }
      }
    }
    return nil
  }

  /// What decides how exports of some frames are made.
  package func known(_ stage: String) -> KnownArtifact {
    guard let entry = entry(stage), let record = entry.believedRecord else {
      // A step that chose frames and was left with none has made nothing, and was there.
      return KnownArtifact(
        isThere: false, ports: empty(stage).map { Set($0.inputs.artifacts.keys) })
    }
    return KnownArtifact(
      isThere: entry.state != .removed, ports: Set(record.inputs.artifacts.keys))
  }

  /// The record of a stage that found out at work that there was nothing to do.
  package func empty(_ stage: String) -> ArtifactRecord? {
    if let open, open.empty == nil { return nil }
    return ArtifactRecord(at: layout.emptyRecord(stage), of: layout)
      .flatMap { $0.problem(of: stage) == nil ? $0 : nil }
  }

  /// The artifact as an input of another stage; `nil` unless it is complete on disk.
  public func input(_ stage: String) -> InputArtifact? {
    guard let found = entry(stage), found.state == .intact else { return nil }
    return InputArtifact(folder: place(of: found), record: found.record)
  }

  /// Removes an intermediate and keeps its record, so that it counts as up to date. A kill in between
  /// leaves the artifact with its record, or what the next sweep removes.
  func removeIntermediate(
    _ stage: String, in output: CaptureOutput, attempt: String
  ) throws(FileError) {
    if let scratch,
      let record = try scratch.folder.folder(stage)?.contents(
        of: ArtifactRecord.fileName)
    {
      try output.notes.makeFolder(OutputNames.removed)
        .replace("\(stage).json", with: record)
      return try scratch.removeArtifact(stage, attempt: attempt)
    }
    guard let place = try output.folder.folder(stage),
      let record = try place.contents(of: ArtifactRecord.fileName)
    else { return }
    try output.checkPlace(stage)
    try output.notes.makeFolder(OutputNames.removed).replace("\(stage).json", with: record)
    try output.removeArtifact(stage, attempt: attempt)
  }

  /// Intermediates that were not removed by the end of a run: those of readers that have failed, or that
  /// were no part of it. Their records stay, so that they are made again only for who needs them.
  func emptyScratch(in output: CaptureOutput, attempt: String) {
    for stage in (try? scratch?.folder.names()) ?? [] {
      guard let found = entry(stage), found.isInScratch, found.state == .intact,
        found.record.problems.isEmpty
      else { continue }
      try? removeIntermediate(stage, in: output, attempt: attempt)
    }
  }

  private func place(of found: PublishedArtifact) -> FilePath {
    (found.isInScratch ? scratch?.layout ?? layout : layout).artifact(found.record.stage)
  }

  /// What the record of a stage tells: its outputs are not looked at, and one that is there counts as intact.
  private func entry(_ stage: String) -> PublishedArtifact? {
    func found(
      _ record: ArtifactRecord, _ state: PublishedArtifact.State, isInScratch: Bool = false
    ) -> PublishedArtifact {
      PublishedArtifact(
        record: record,
        state: record.problem(of: stage).map(PublishedArtifact.State.unsound) ?? state,
        isInScratch: isInScratch)
    }
    if let scratch,
      let record = ArtifactRecord(at: scratch.layout.record(stage), of: scratch.layout)
    {
      return found(record, .intact, isInScratch: true)
    }
    if let folder, let known = index?.records[stage] {
      let published = folder.below(stage)?
        .stamp(of: ArtifactRecord.fileName)
      if published == known.stamp {
        return PublishedArtifact(
          record: known.record, state: .intact, isKnownSound: known.isSound)
      }
      if published == nil, FileStamp(of: layout.removedRecord(stage)) == known.stamp {
        return PublishedArtifact(
          record: known.record, state: .removed, isKnownSound: known.isSound)
      }
    }
    if folder.map({ $0.below(stage) != nil }) ?? true,
      let record = ArtifactRecord(at: layout.record(stage), of: layout)
    {
      return found(record, .intact)
    }
    if let open {
      if open.removed == nil { return nil }
    } else if let folder, folder.below("\(OutputNames.notes)/\(OutputNames.removed)") == nil {
      return nil
    }
    return ArtifactRecord(at: layout.removedRecord(stage), of: layout).map { found($0, .removed) }
  }

  private func state(of found: PublishedArtifact, verify: Bool) -> PublishedArtifact.State {
    let record = found.record
    let place = place(of: found)
    let open =
      (found.isInScratch ? nil : folder).map { $0.below(record.stage) }
      ?? HeldFolder(place, followsLast: false)
    var missing: [String] = []
    var altered: [String] = []
    // The folder in it that was looked into last.
    var inner: (name: String, folder: HeldFolder?) = ("", nil)
    for output in record.outputs {
      var (folder, name) = (open, Substring(output.path))
      if let slash = output.path.lastIndex(of: "/") {
        let above = String(output.path[..<slash])
        if inner.name != above { inner = (above, open?.below(above)) }
        (folder, name) = (inner.folder, output.path[output.path.index(after: slash)...])
      }
      guard let stamp = folder?.stamp(of: String(name)) else {
        missing.append(output.path)
        continue
      }
      if stamp.bytes != output.bytes
        || (verify
          && (try? Digest(ofFileAt: place.appending(FilePath(text: output.path).components)))
            != output.sha256)
      {
        altered.append(output.path)
      }
    }
    if !missing.isEmpty { return .missing(missing) }
    return altered.isEmpty ? .intact : .altered(altered)
  }
}

/// Which artifact of a stage is meant: what it was made from, and what came out.
public struct ArtifactMark: Hashable, Sendable, Codable {
  public var stage: String
  var fingerprint: Digest
  public var outputDigest: Digest
}

extension ArtifactMark {
  init(_ record: ArtifactRecord) {
    self.init(
      stage: record.stage, fingerprint: record.fingerprint, outputDigest: record.outputDigest)
  }

  /// The marks of the artifacts that a capture has now, of the stages that `report` says were made or up
  /// to date, in its order; removed intermediates as well. For whoever has made them, on the machine that
  /// did: others may not see them yet. Cost: a record per stage is read.
  public static func all(of report: CaptureReport, in layout: OutputLayout) -> [ArtifactMark] {
    let store = ArtifactStore(layout)
    return report.stages.filter(\.outcome.isDone).compactMap { store.record($0.stage) }
      .map { ArtifactMark($0) }
  }
}

/// Whether an artifact that another machine has published shows here by now.
///
/// Clients of a network file system see names late: one that was looked up in vain stays absent for a
/// while, even when the folder's listing already shows it. So every folder on the way is listed, only what
/// a listing shows is opened, and what is not there after all is "not yet". One look never waits; whoever
/// asks decides how long to go on asking (clients of NFS know within 60 s).
public enum ArtifactVisibility: Hashable, Sendable {
  case there
  /// No record shows that could be the artifact's.
  case notYet
  /// What shows is something else, in words: another artifact, which may be the one that is about to be
  /// replaced, or something that cannot be read.
  case other(String)

  /// Looks once for the record of an artifact in its place, or of an intermediate that was removed after
  /// use. Cost: four listings and one small file.
  public static func look(_ layout: OutputLayout, _ mark: ArtifactMark) -> ArtifactVisibility {
    do {
      guard let root = try Place.opened(layout.root),
        let folder = try root.folder(layout.name)
      else { return .notYet }
      let places: [(folder: Place?, name: String)] = [
        (try folder.folder(mark.stage), ArtifactRecord.fileName),
        (
          try folder.folder(OutputNames.notes)?.folder(OutputNames.removed),
          "\(mark.stage).json"
        ),
      ]
      var found = notYet
      for place in places {
        // A record that cannot be parsed has not arrived whole yet.
        guard let bytes = try place.folder?.contents(of: place.name),
          let record = ArtifactRecord(reading: bytes)
        else { continue }
        if ArtifactMark(record) == mark { return .there }
        found = .other(
          "\(layout.name)/\(mark.stage): the artifact that shows has the fingerprint "
            + "\(record.fingerprint.hex.prefix(12)), not \(mark.fingerprint.hex.prefix(12))")
      }
      return found
    } catch {
      return .other("\(error)")
    }
  }

  /// A folder, and the names that its listing shows.
  private struct Place {
    let held: HeldFolder
    let names: Set<String>

    static func opened(_ path: FilePath) throws(FileError) -> Place? {
      try unlessAbsent { () throws(FileError) in try Place(HeldFolder.following(path)) }
    }

    init(_ held: HeldFolder) throws(FileError) {
      self.held = held
      names = Set(try held.names())
    }

    func folder(_ name: String) throws(FileError) -> Place? {
      guard names.contains(name) else { return nil }
      return try Self.unlessAbsent { () throws(FileError) in
        guard let inner = try held.folder(name) else { return nil }
        return try Place(inner)
      }
    }

    func contents(of name: String) throws(FileError) -> [UInt8]? {
      guard names.contains(name) else { return nil }
      return try Self.unlessAbsent { () throws(FileError) in try held.contents(of: name) }
    }

    /// Returns `nil` if the file is not there, or not any more (`ESTALE`).
    private static func unlessAbsent<Value>(
      _ body: () throws(FileError) -> Value?
    ) throws(FileError) -> Value? {
      do throws(FileError) {
        return try body()
      } catch {
        if error.code == .noSuchFileOrDirectory || error.code == .staleNFSFileHandle { return nil }
        throw error
      }
    }
  }
}
