import FoundationEssentials
import Pipeline
import Storage
import SystemPackage

/// The published artifacts of one capture.
public struct ArtifactShelf: Sendable {
  public let layout: OutputLayout
  /// Copies of records, by stage; each counts only while its file has not changed.
  private let index: RecordIndex?
  /// The folder of the capture, held open for planning: thousands of looks without walking its path.
  private let folder: OpenFolder?

  public init(_ layout: OutputLayout) {
    self.init(layout, index: nil)
  }

  init(_ layout: OutputLayout, index: RecordIndex?) {
    self.layout = layout
    self.index = index
    folder = index == nil ? nil : OpenFolder(layout.folder.string)
  }

  /// The record of `stage`, also of an intermediate that was removed; its outputs are not looked at.
  public func record(_ stage: String) -> ArtifactRecord? {
    entry(stage)?.record
  }

  /// What is published of `stage`: its record and whether every listed output is there with its
  /// recorded size (and digest, if `verify`). `nil` when there is no complete artifact.
  public func published(_ stage: String, verify: Bool) -> PublishedArtifact? {
    guard let entry = entry(stage) else { return nil }
    let state =
      entry.isRemoved
      ? PublishedArtifact.State.removed : state(of: entry.record, verify: verify)
    return PublishedArtifact(
      record: entry.record, state: state, isKnownSound: entry.isKnownSound)
  }

  /// The artifact as an input of another stage; `nil` unless it is complete on disk.
  public func input(_ stage: String) -> InputArtifact? {
    entry(stage).flatMap { entry in
      entry.isRemoved
        ? nil
        : InputArtifact(stage: stage, folder: layout.artifact(stage), record: entry.record)
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

  private struct Found {
    var record: ArtifactRecord
    var isRemoved: Bool
    var isKnownSound = false
  }

  private func entry(_ stage: String) -> Found? {
    if let folder, let known = index?.records[stage] {
      let published = folder.stamp(of: "\(stage)/\(ArtifactRecord.fileName)")
      if published == known.stamp {
        return Found(record: known.record, isRemoved: false, isKnownSound: known.isSound)
      }
      if published == nil, FileStamp(of: layout.removedRecord(stage)) == known.stamp {
        return Found(record: known.record, isRemoved: true, isKnownSound: known.isSound)
      }
    }
    if let record = Self.read(ArtifactRecord.self, layout.record(stage)) {
      return Found(record: record, isRemoved: false)
    }
    return Self.read(ArtifactRecord.self, layout.removedRecord(stage)).map {
      Found(record: $0, isRemoved: true)
    }
  }

  private func state(of record: ArtifactRecord, verify: Bool) -> PublishedArtifact.State {
    let place = layout.artifact(record.stage)
    let open =
      folder.map { OpenFolder(record.stage, in: $0) } ?? OpenFolder(place.string)
    var missing: [String] = []
    var altered: [String] = []
    for output in record.outputs {
      guard let stamp = open?.stamp(of: output.path) else {
        missing.append(output.path)
        continue
      }
      if stamp.bytes != output.bytes
        || (verify
          && (try? Digest(ofFileAt: place.appending(FilePath(output.path).components)))
            != output.sha256)
      {
        altered.append(output.path)
      }
    }
    if !missing.isEmpty { return .missing(missing) }
    return altered.isEmpty ? .intact : .altered(altered)
  }

  static func read<Value: Decodable>(_ type: Value.Type, _ path: FilePath) -> Value? {
    guard let file = try? InputFile(path),
      let bytes = try? file.whole(limit: InputLimits.bytesOfRecord)
    else { return nil }
    return try? JSONDecoder().decode(type, from: Data(bytes))
  }
}
