import Captures
import Engine
import FoundationEssentials
import Core
import SystemPackage
import Watch

/// Captures in a staging folder that have not been processed yet. One look sees no changes: an upload in progress is
/// told by what an upload server has on its way and by the temporary files of transfers only. Other captures are
/// `queued` if they are complete, else `incomplete`.
struct StagingLook {
  private(set) var rows: [CaptureRow] = []
  private(set) var unrecognized: [RunReport.Unrecognized] = []
  /// What is odd about the notes of upload servers, one line each.
  private(set) var notes: [String] = []

  init(_ staging: String, for view: OutputSnapshot) throws {
    let path = FilePath(text: staging)
    guard try FileSystem.hasFolder(at: path) else {
      throw CommandFailure(code: ExitStatus.noCapture, text: "\(staging): no such folder")
    }
    let root = view.root
    let finding = CaptureFinder(
      Toolbox.captures,
      isLeftOut: { folder in folder == root || folder.starts(with: root) }
    ).find(path)
    unrecognized = finding.unrecognized.map {
      RunReport.Unrecognized(path: $0.path.shown, holds: $0.holds.map(PathText.shown))
    }
    let known = Set(view.rows.map(\.id))
    let copies = ConflictCopies.among(finding.captures)
    unrecognized += copies.map {
      RunReport.Unrecognized(path: $0.place.shown, holds: [$0.reason])
    }
    let copied = Set(copies.map(\.location))
    let captures = finding.captures.filter { !copied.contains(CaptureLocation($0)) }
    let evidence = try UploadEvidence.of(captures)
    notes = captures.compactMap { evidence[CaptureLocation($0)]?.problem }
    for capture in captures {
      guard let version = evidence[CaptureLocation(capture)]?.conflict else { continue }
      unrecognized.append(
        RunReport.Unrecognized(
          path: capture.folder.appending(version).shown,
          holds: [ConflictCopies.reason(fileOf: capture.id)]))
    }
    let targets = Ownership(root: root).resolve(captures)
      .filter { !known.contains($0.layout.name) }
    let client = try InspectionCommand.client(atOnce: MachineLimits.cores)
    let marks = MarkBook(ofOutput: root)
    let retired = Set(view.retired.map(\.id))
    rows = try concurrentMap(count: targets.count) { index -> CaptureRow? in
      let target = targets[index]
      let mark = marks.mark(of: target.layout, at: CaptureLocation(target.recognition))
      if mark?.isRetired == true, retired.contains(target.layout.name) { return nil }
      let upload = evidence[CaptureLocation(target.recognition)] ?? UploadEvidence()
      var missing: [String] = []
      if !upload.isComplete, !upload.isArriving {
        // If a capture cannot be opened, no files are known to be missing; its run reports the error.
        missing = (try? client.summary(of: target.recognition))?.missingFiles ?? []
        missing += upload.waitsFor.filter { !missing.contains($0) }
      }
      var waiting = WatchRecord.Waiting(
        id: target.layout.name, family: target.recognition.family.rawValue,
        path: target.recognition.path.text,
        state: upload.isArriving ? .arriving : missing.isEmpty ? .queued : .incomplete,
        since: "", missing: missing)
      waiting.twinOf = upload.twinOf
      var row = CaptureRow(waiting: waiting)
      row.mark = mark
      return row
    }.compactMap(\.self)
    rows += finding.unreadable.map(Self.hidden)
  }

  /// What could not be looked at: a capture may be hidden behind it.
  private static func hidden(_ error: FileError) -> CaptureRow {
    var waiting = WatchRecord.Waiting(
      id: error.path.shownName, family: "", path: error.path.text, state: .failed, since: "")
    waiting.failure = Engine.CommandFailure(
      message: error.description, cause: FailureClassifier.cause(ofInput: error))
    return CaptureRow(waiting: waiting)
  }
}
