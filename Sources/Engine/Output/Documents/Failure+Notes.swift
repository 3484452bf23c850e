import Core
import SystemPackage

/// Failures as they are noted in an output. `.failed/<stage>/failure.json` tells why the last attempt of a stage
/// failed; `DIR/<capture-id>/.scanmill/triage.json` how often attempts at the capture have failed since its files, the
/// program and the pipeline last changed, and is absent when none has. The latter is the only place that quarantine
/// stands in: nothing is moved or deleted.
extension Failure {

  /// `nil` for other bytes than those of a note.
  init?(note bytes: [UInt8]) {
    guard let note = try? Failure(json: bytes),
      note.message != nil, note.cause != nil, note.time != nil
    else { return nil }
    self = note
  }

  /// The note of the last attempt of a stage, if that failed. No link is followed below `--output`.
  public init?(of stage: String, _ layout: OutputLayout) {
    guard
      let note = HeldFolder.contents(of: layout.failureNote(stage), below: layout.root)
        .flatMap(Failure.init(note:))
    else { return nil }
    self = note
    // The folder tells the stage: the file does not name it.
    self.stage = stage
  }

  /// The notes of those of `stages` whose last attempt failed, in their order. Cost: one look at a capture without any
  /// failure.
  public static func all(of stages: [String], in open: OpenOutput) -> [Failure] {
    guard open.failed != nil else { return [] }
    return stages.compactMap { Failure(of: $0, open.layout) }
  }

  /// What is noted of the attempts at a capture; `nil`: nothing has failed, the note is damaged, or what was in the place
  /// of a result is there no more.
  public init?(triageOf layout: OutputLayout) { self.init(triageOf: OpenOutput(layout)) }

  init?(triageOf open: OpenOutput) {
    guard let note = NotesFile.read(Failure.self, OutputNames.triage, of: open), note.key != nil,
      note.message != nil, note.cause != nil, note.time != nil
    else { return nil }
    if note.detail?.code == .notOurs, let stage = note.stage,
      let place = try? CaptureOutput(existing: open.layout)?.place(stage),
      place == .free || place == .ours
    {
      return nil
    }
    self = note
  }

  /// Leaves the note, and with it what the attempt had written under `staging`, if it came that far. The
  /// note is written before the folder gets its name: a failed attempt without note is not ours. Failing
  /// to is no further failure.
  func leave(
    for stage: String, partial staging: String?, output: CaptureOutput, attempt: String
  ) {
    var note = self
    note.stage = nil
    guard let bytes = try? JSONText.pretty(note) else { return }
    do {
      let attempts = try output.staging()
      let name = staging ?? OutputLayout.stagingName(stage, attempt: attempt)
      if staging == nil { try attempts.remove(name) }
      let attempt = try attempts.makeFolder(name)
      // A program may have left something of that name.
      try attempt.remove(OutputNames.failure)
      try attempt.write(bytes, as: OutputNames.failure)
      try output.removeFailure(stage)
      let failed = try output.folder.makeFolder(OutputNames.failed)
      try attempts.renameNew(name, to: failed, as: stage)
    } catch {
      // What the attempt had written goes with the next sweep.
    }
  }
}
