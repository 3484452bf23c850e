import Captures
import Pipeline
import Storage
import SystemPackage

/// What others want to know of an examined capture.
extension ExaminedCapture {
  /// Records of what is published, in pipeline order.
  public var published: [ArtifactRecord] {
    pipeline.stages.compactMap { facts[$0.name]?.published?.record }
  }

  /// Whether its stages look at files that lie in neither the capture nor the output: calibrations that a
  /// parameter names, folders that programs are shown.
  public var readsOtherFiles: Bool {
    let summary = collector?.summary ?? memo?.summary
    return pipeline.stages.contains { stage in
      let external = summary.map { stage.kind.externalFiles(stage.parameters, $0) } ?? [:]
      let record = facts[stage.name]?.published?.record
      return !external.isEmpty || record?.inputs.external.isEmpty == false
        || stage.kind.readsFolder(stage.parameters)
        || stage.kind.parameters.contains {
          Self.isPath($0) && stage.parameters.text($0.name) != nil
        }
    }
  }

  private static func isPath(_ parameter: ParameterDescription) -> Bool {
    switch parameter.kind {
    case .file, .folder: true
    default: false
    }
  }

  /// How the last attempts of stages that were asked for failed, in pipeline order.
  public var failures: [NotedFailure] {
    let asked = asked
    return pipeline.stages.filter { asked.contains($0.name) }
      .compactMap { NotedFailure($0.name, of: layout) }
  }

}

/// The place that an output folder was made from, as far as it is noted.
public struct RecordedLocation: Hashable, Sendable {
  /// As the capture was called before it became a folder name.
  public var id: String
  public var family: CaptureFamily?
  /// As `PathText` carries it.
  public var folder: String
  public var stem: String?

  /// `nil` where nothing is noted. Reads a small file or two.
  public init?(of layout: OutputLayout) {
    switch OutputFolderState(layout) {
    case .owned(let owner):
      (id, family, folder, stem) = (owner.id, owner.family, owner.folder, owner.stem)
    case .remembered(let memo):
      (id, family, folder, stem) = (memo.id, memo.family, memo.folder, memo.stem)
    case .described(let path, let name): (id, folder) = (name, path)
    case .absent, .vacant, .foreign: return nil
    }
  }

  /// Whether nothing is there any more. A place that cannot be looked at is not gone.
  public var isGone: Bool { CaptureLocation(folder: FilePath(text: folder), stem: stem).isGone }
}

/// How the last attempt of a stage failed.
public struct NotedFailure: Hashable, Sendable, Codable {
  public var stage: String
  public var message: String
  /// UTC, ISO 8601.
  public var time: String
  /// Notes of earlier versions have none.
  public var cause: FailureCause?

  public init(stage: String, message: String, time: String, cause: FailureCause?) {
    self.stage = stage
    self.message = message
    self.time = time
    self.cause = cause
  }

  /// `nil` when the last attempt did not fail.
  public init?(_ stage: String, of layout: OutputLayout) {
    guard let note = FailureNote.read(stage, layout) else { return nil }
    self.init(stage: stage, message: note.message, time: note.time, cause: note.cause)
  }
}

/// The files of a capture in one digest of names, sizes and times, for those who remember what they found.
public struct InputStamp: Hashable, Sendable {
  public var digest: Digest
  /// Whether all files had been still for a while: a later change cannot bear the same times.
  public var isSettled: Bool

  /// `nil` when there is no such folder, no file of the stem in it, or too much to be remembered.
  ///
  /// Cost: one system call per file.
  public init?(folder: String, stem: String?, nowNanoseconds: Int64) {
    guard
      let listing = InputListing(folder: folder, stem: stem, nowNanoseconds: nowNanoseconds),
      stem == nil || !listing.entries.isEmpty
    else { return nil }
    var writer = CacheEncoder()
    for entry in listing.entries {
      writer.put(entry.name)
      writer.put(entry.stamp)
    }
    digest = Digest(of: writer.bytes)
    isSettled = listing.isSettled
  }
}
