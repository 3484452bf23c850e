import Core
import SystemPackage

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
