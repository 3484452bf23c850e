import Pipeline
import Storage
import SystemPackage

/// Makes a finished staging folder the artifact, in steps of which each leaves either the old artifact,
/// none, or the new one.
enum Publication {
  /// Flushes the data once, writes `artifact.json` last, puts the folder in place by one rename,
  /// makes that durable, removes the old one.
  static func publish(
    _ staging: StagingFolder, _ record: ArtifactRecord, layout: OutputLayout, run: String
  ) throws {
    try FileSystem.syncFileSystem(of: staging.path)
    try OutputFile.write(
      JSONText.pretty(record), to: staging.path.appending(ArtifactRecord.fileName), durably: true)
    try FileSystem.syncFolder(staging.path)
    let aside = layout.stagingRoot.appending("old.\(record.stage).\(run)")
    try FileSystem.publish(staging.path, at: layout.artifact(record.stage), aside: aside)
    try FileSystem.syncFolder(layout.folder)
    try FileSystem.remove(layout.removedRecord(record.stage))
    try FileSystem.remove(aside)
  }

  /// Keeps what a failed attempt had written, with the reason beside it. Failing to keep it is no
  /// further failure.
  static func keepFailure(
    _ staging: StagingFolder, _ message: String, stage: String, layout: OutputLayout,
    clock: RunClock
  ) {
    let place = layout.failed(stage)
    try? FileSystem.makeFolder(place.removingLastComponent())
    try? FileSystem.remove(place)
    try? FileSystem.rename(staging.path, to: place)
    let note = FailureNote(message: message, time: clock.wallText())
    if let bytes = try? JSONText.pretty(note) {
      try? FileSystem.makeFolder(place)
      try? OutputFile.write(bytes, to: layout.failureNote(stage))
    }
  }

  /// Removes what a killed run left in staging. Only for the holder of the capture's lock.
  static func sweep(_ layout: OutputLayout) throws(FileError) {
    // A kill between the two renames of a file system that cannot exchange leaves the old artifact
    // here and nothing in place: put it back.
    if FileSystem.isFolder(layout.stagingRoot) {
      for name in try FileSystem.names(in: layout.stagingRoot) where name.hasPrefix("old.") {
        let stage = name.dropFirst(4).split(separator: ".").dropLast().joined(separator: ".")
        if !FileSystem.exists(layout.artifact(stage)) {
          try FileSystem.rename(
            layout.stagingRoot.appending(name), to: layout.artifact(stage))
        }
      }
    }
    try FileSystem.remove(layout.stagingRoot)
  }
}

/// Why the last attempt of a stage failed.
struct FailureNote: Codable, Sendable {
  var schema = 1
  var message: String
  var time: String
}
