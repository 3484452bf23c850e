import FoundationEssentials
import Pipeline
import Storage
import SystemPackage

/// Why the last attempt of a stage failed: `.failed/<stage>/failure.json`.
package struct FailureNote: Codable, Sendable {
  package static let fileName = OutputNames.failure

  package var schema = 1
  package var message: String
  package var time: String
  package var cause: FailureCause

  package init(message: String, time: String, cause: FailureCause) {
    self.message = message
    self.time = time
    self.cause = cause
  }

  /// `nil` for other bytes than those of a note.
  init?(_ bytes: [UInt8]) {
    guard let note = try? JSONDecoder().decode(FailureNote.self, from: Data(bytes)) else {
      return nil
    }
    self = note
  }

  /// The note of the last attempt, if that failed. No link is followed below `--output`.
  package static func read(_ stage: String, _ layout: OutputLayout) -> FailureNote? {
    HeldFolder.contents(of: layout.failureNote(stage), below: layout.root).flatMap(Self.init)
  }

  /// The notes of those of `stages` whose last attempt failed. Cost: one look at a capture without any failure.
  package static func read(
    _ stages: some Sequence<String>, _ layout: OutputLayout
  ) -> [String: FailureNote] {
    guard HeldFolder(layout.folder, followsLast: false)?.below(CaptureOutput.failedName) != nil
    else { return [:] }
    var notes: [String: FailureNote] = [:]
    for stage in stages { notes[stage] = read(stage, layout) }
    return notes
  }

  /// Leaves the note, and with it what the attempt had written under `staging`, if it came that far. The
  /// note is written before the folder gets its name: a failed attempt without note is not ours. Failing
  /// to is no further failure.
  package func leave(
    for stage: String, partial staging: String?, output: CaptureOutput, attempt: String
  ) {
    guard let bytes = try? JSONText.pretty(self) else { return }
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
