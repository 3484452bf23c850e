import Pipeline
import Storage
import SystemPackage

/// Why the last attempt of a stage failed: `.failed/<stage>/failure.json`.
struct FailureNote: Codable, Sendable {
  var schema = 1
  var message: String
  var time: String
  /// Notes of earlier versions have none.
  var cause: FailureCause?

  /// The note of the last attempt, if that failed.
  static func read(_ stage: String, _ layout: OutputLayout) -> FailureNote? {
    ArtifactShelf.read(FailureNote.self, layout.failureNote(stage))
  }

  /// Leaves the note, and with it what the attempt had written, if it came that far. Failing to is no
  /// further failure.
  func leave(for stage: String, partial staging: FilePath?, layout: OutputLayout) {
    let place = layout.failed(stage)
    try? FileSystem.makeFolder(place.removingLastComponent())
    try? FileSystem.remove(place)
    if let staging { try? FileSystem.rename(staging, to: place) }
    guard let bytes = try? JSONText.pretty(self) else { return }
    try? FileSystem.makeFolder(place)
    try? OutputFile.write(bytes, to: layout.failureNote(stage))
  }
}
