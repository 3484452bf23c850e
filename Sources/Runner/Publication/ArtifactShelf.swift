import FoundationEssentials
import Pipeline
import Storage
import SystemPackage

/// The published artifacts of one capture.
public struct ArtifactShelf: Sendable {
  public let layout: OutputLayout

  public init(_ layout: OutputLayout) {
    self.layout = layout
  }

  /// The record of `stage`, also of an intermediate that was removed; its outputs are not looked at.
  public func record(_ stage: String) -> ArtifactRecord? {
    Self.read(ArtifactRecord.self, layout.record(stage))
      ?? Self.read(ArtifactRecord.self, layout.removedRecord(stage))
  }

  /// What is published of `stage`: its record and whether every listed output is there with its
  /// recorded size (and digest, if `verify`). `nil` when there is no complete artifact.
  public func published(_ stage: String, verify: Bool) -> PublishedArtifact? {
    if let record = Self.read(ArtifactRecord.self, layout.record(stage)) {
      return PublishedArtifact(
        record: record, state: Self.state(of: record, in: layout.artifact(stage), verify: verify))
    }
    if let record = Self.read(ArtifactRecord.self, layout.removedRecord(stage)) {
      return PublishedArtifact(record: record, state: .removed)
    }
    return nil
  }

  /// The artifact as an input of another stage; `nil` unless it is complete on disk.
  public func input(_ stage: String) -> InputArtifact? {
    Self.read(ArtifactRecord.self, layout.record(stage)).map {
      InputArtifact(stage: stage, folder: layout.artifact(stage), record: $0)
    }
  }

  /// Removes an intermediate and keeps its record, so that it counts as up to date. A kill in between
  /// leaves files without record, which the next sweep removes.
  public func removeIntermediate(_ stage: String) throws(FileError) {
    let record = layout.record(stage)
    guard FileSystem.exists(record) else { return }
    try FileSystem.makeFolder(layout.removedRecord(stage).removingLastComponent())
    try FileSystem.rename(record, to: layout.removedRecord(stage))
    try FileSystem.remove(layout.artifact(stage))
  }

  private static func state(
    of record: ArtifactRecord, in folder: FilePath, verify: Bool
  ) -> PublishedArtifact.State {
    var missing: [String] = []
    var altered: [String] = []
    for output in record.outputs {
      let path = folder.appending(FilePath(output.path).components)
      guard let identity = try? FileIdentity(of: path) else {
        missing.append(output.path)
        continue
      }
      if identity.bytes != output.bytes
        || (verify && (try? Digest(ofFileAt: path)) != output.sha256)
      {
        altered.append(output.path)
      }
    }
    if !missing.isEmpty { return .missing(missing) }
    return altered.isEmpty ? .intact : .altered(altered)
  }

  static func read<Value: Decodable>(_ type: Value.Type, _ path: FilePath) -> Value? {
    guard let file = try? MappedFile(path) else { return nil }
    return file.withBytes { bytes in
      bytes.withUnsafeBytes { try? JSONDecoder().decode(type, from: Data($0)) }
    }
  }
}
