import Captures
import Core
import SystemPackage

/// Reads what is known of a capture from its output folder, without a lock and without writing.
struct EntryReader: Sendable {
  let examiner: OutputExaminer

  /// What was read, and whether it can be remembered: not when files count that lie elsewhere.
  struct Found: Sendable {
    var entry: CaptureEntry
    var mayBeRemembered: Bool
    /// What was found of its files.
    var seen: EntrySources.Seen?
  }

  /// Cost: a tenth of a millisecond where notes are current, else a look into the capture.
  ///
  /// - Parameter state: of the folder.
  func read(_ open: OpenOutput, _ state: OutputFolderState) throws -> Found {
    let layout = open.layout
    let examined = try examiner.examine(open, comparesTimesOnly: true)
    let status = CaptureStatus(examined)
    let place = RecordedLocation(state)
    let document = RecordedDocument(open)
    let isGone = examined.recognition == nil && place?.isGone == true
    var entry = CaptureEntry(
      id: layout.name, name: place?.id ?? document?.id ?? layout.name,
      family: status.family ?? place?.family?.rawValue ?? document?.family,
      path: status.path ?? place.map { PathText.shown($0.folder) } ?? document?.path,
      folder: examined.recognition?.path.text ?? place?.folder,
      stem: examined.recognition.map(\.stem) ?? place?.stem, pipeline: status.pipeline,
      inputGone: status.inputGone, gone: isGone, lockedBy: status.lockedBy, notes: status.notes,
      stages: status.stages, warnings: CaptureStatus.warnings(of: examined),
      missing: status.missing,
      timings: examined.artifacts.map(Self.timing),
      failures: examined.failures, triage: TriageRecord(open))
    entry.settings = (examined.cache?.pipeline?.settings ?? [])
      .filter { !$0.value.contains("sha256:") }
      .map { "\($0.stage).\($0.parameter)=\($0.value)" }
    entry.shortfalls = CaptureStatus.shortfalls(of: examined)
    entry.quality = examined.quality
    if let inputs = examined.cache?.inputs {
      let files = inputs.entries.filter { !$0.name.hasSuffix(UploadRecord.fileName) }
      entry.received = CaptureEntry.Received(
        files: files.count, bytes: files.reduce(0) { $0 &+ max(0, $1.stamp.bytes) },
        manifest: isGone ? nil : UploadCounts(in: FilePath(text: inputs.folder)))
    }
    if let document {
      entry.device = document.device ?? DeviceInfo()
      entry.scene = document.scene ?? SceneInfo()
      entry.user = document.user
      entry.recordedAt = document.recordedAt
      entry.frames = document.frames
      entry.streams = document.streams.sorted { $0.key < $1.key }.map { name, stream in
        CaptureEntry.Stream(
          name: name, file: stream.file, encoding: stream.encoding, frames: stream.frames)
      }
    }
    return Found(
      entry: entry,
      mayBeRemembered: !examined.readsOtherFiles && examined.lockedBy == nil
        && (examined.recognition != nil || isGone),
      seen: isGone ? nil : examined.seenInputs(entry.received?.manifest))
  }

  private static func timing(_ published: PublishedArtifact) -> CaptureEntry.Timing {
    let record = published.record
    // Files of a removed intermediate are not in the output.
    let outputs = published.state == .removed ? [] : record.outputs
    return CaptureEntry.Timing(
      stage: record.stage, seconds: record.seconds, cpuSeconds: record.cpuSeconds,
      frames: record.frames, bytes: outputs.reduce(0) { $0 &+ $1.bytes },
      outputs: outputs.count, finished: record.finished)
  }
}
