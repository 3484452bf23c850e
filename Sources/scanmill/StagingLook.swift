import Captures
import Catalog
import FoundationEssentials
import Output
import Parallel
import Pipeline
import Runner
import Storage
import SystemPackage

/// Captures in a staging folder that have not been processed yet. A single check cannot detect an
/// upload in progress: complete captures are `queued`, those that lack files `incomplete`.
struct StagingLook {
  private(set) var rows: [CaptureRow] = []
  private(set) var unrecognized: [RunReport.Unrecognized] = []

  init(_ staging: String, for view: OutputSnapshot) throws {
    let path = FilePath(text: staging)
    guard FileSystem.isFolder(path) else {
      throw Failure(code: ExitStatus.noCapture, text: "\(staging): no such folder")
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
    let targets = Ownership(root: root).resolve(finding.captures)
      .filter { !known.contains($0.layout.name) }
    let looker = try InspectionCommand.looker(atOnce: MachineLimits.cores)
    let marks = MarkBook(ofOutput: root)
    let retired = Set(view.retired.map(\.id))
    rows = try concurrentMap(count: targets.count) { index -> CaptureRow? in
      let target = targets[index]
      let mark = marks.mark(of: target.layout, at: CaptureLocation(target.recognition))
      if mark?.isRetired == true, retired.contains(target.layout.name) { return nil }
      // If a capture cannot be opened, no files are known to be missing; its run reports the error.
      let missing = (try? looker.summary(of: target.recognition))?.missingFiles ?? []
      var row = CaptureRow(
        waiting: WatchRecord.Waiting(
          id: target.layout.name, family: target.recognition.family.rawValue,
          path: target.recognition.path.text, state: missing.isEmpty ? .queued : .incomplete,
          since: "", missing: missing))
      row.mark = mark
      return row
    }.compactMap(\.self)
  }
}
