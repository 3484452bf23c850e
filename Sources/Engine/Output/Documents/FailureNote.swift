import FoundationEssentials
import Core
import SystemPackage

/// Why the last attempt of a stage failed: `.failed/<stage>/failure.json`.
public struct FailureNote: Hashable, Sendable {
  package static let fileName = OutputNames.failure

  /// With message and cause. Its stage is known from the folder: the file does not name it.
  public var failure: Failure
  /// UTC, ISO 8601.
  public var time: String

  init(_ failure: Failure, time: String) {
    self.failure = failure
    self.time = time
  }

  /// `nil` for other bytes than those of a note.
  init?(_ bytes: [UInt8]) {
    guard let note = try? JSONDecoder().decode(FailureNote.self, from: Data(bytes)),
      note.failure.message != nil, note.failure.cause != nil
    else { return nil }
    self = note
  }

  /// The note of the last attempt, if that failed. No link is followed below `--output`.
  public static func read(_ stage: String, _ layout: OutputLayout) -> FailureNote? {
    guard
      var note = HeldFolder.contents(of: layout.failureNote(stage), below: layout.root)
        .flatMap(Self.init)
    else { return nil }
    note.failure.stage = stage
    return note
  }

  /// The notes of those of `stages` whose last attempt failed, in their order. Cost: one look at a capture without any
  /// failure.
  public static func all(of stages: [String], in open: OpenOutput) -> [FailureNote] {
    guard open.failed != nil else { return [] }
    return stages.compactMap { read($0, open.layout) }
  }

  /// Leaves the note, and with it what the attempt had written under `staging`, if it came that far. The
  /// note is written before the folder gets its name: a failed attempt without note is not ours. Failing
  /// to is no further failure.
  func leave(
    for stage: String, partial staging: String?, output: CaptureOutput, attempt: String
  ) {
    var note = self
    note.failure.stage = nil
    guard let bytes = try? JSONText.pretty(note) else { return }
    do {
      let attempts = try output.staging()
      let name = staging ?? OutputLayout.stagingName(stage, attempt: attempt)
      if staging == nil { try attempts.remove(name) }
      let attempt = try attempts.makeFolder(name)
      // A program may have left something of that name.
      try attempt.remove(Self.fileName)
      try attempt.write(bytes, as: Self.fileName)
      try output.removeFailure(stage)
      let failed = try output.folder.makeFolder(CaptureOutput.failedName)
      try attempts.renameNew(name, to: failed, as: stage)
    } catch {
      // What the attempt had written goes with the next sweep.
    }
  }
}

/// The keys of the failure stand beside those of the note.
extension FailureNote: Codable {
  private enum Key: CodingKey { case schema, time }

  public init(from decoder: any Decoder) throws {
    failure = try Failure(from: decoder)
    time = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .time)
  }

  public func encode(to encoder: any Encoder) throws {
    try failure.encode(to: encoder)
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(1, forKey: .schema)
    try object.encode(time, forKey: .time)
  }
}
