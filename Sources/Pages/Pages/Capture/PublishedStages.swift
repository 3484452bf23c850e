import Captures
import Engine
import Core
import SystemPackage

/// The published artifacts of a capture by stage, and the failures of other stages.
struct PublishedStages {
  struct Stage {
    var name: String
    /// `nil` if there is no valid record.
    var record: ArtifactRecord?
    /// Published, used and then removed.
    var isRemoved = false
    /// Why the record is not trusted.
    var problem: String?
    /// How the last attempt failed.
    var failure: Failure?
    /// The stage's entry in the report of the last run.
    var report: StageReport?
  }

  /// In the order of the last run, then by start time.
  private(set) var stages: [Stage] = []
  /// The last run that processed the capture.
  private(set) var run: RunExcerpt?

  init(_ layout: OutputLayout, ids: [String]) {
    run = RunExcerpt.last(of: layout, ids: ids)
    var names: [String] = []
    func add(_ name: String) {
      if !names.contains(name), names.count < 200 { names.append(name) }
    }
    let reports = run?.stages ?? []
    for report in reports { add(report.stage) }
    let folder = HeldFolder(layout.root)?.below(layout.name)
    var found: [Stage] = []
    for entry in (try? folder?.list()) ?? []
    where entry.kind == .folder && !entry.name.hasPrefix(".") {
      guard let artifact = folder?.below(entry.name) else { continue }
      if artifact.stamp(of: ArtifactRecord.fileName) != nil {
        found.append(Self.read(entry.name, layout))
      }
    }
    let known = Set(found.map(\.name))
    for name in Self.names(
      in: folder?.below("\(OutputNames.notes)/\(OutputNames.removed)"), ending: ".json")
    where !known.contains(name) {
      if let record = ArtifactStore(layout).record(name) {
        found.append(Stage(name: name, record: record, isRemoved: true))
      }
    }
    found.sort { ($0.record?.started ?? "~", $0.name) < ($1.record?.started ?? "~", $1.name) }
    for stage in found { add(stage.name) }
    let failed =
      ((try? folder?.below(OutputNames.failed)?.list()) ?? []).filter { $0.kind == .folder }.map(
        \.name)
    for name in failed.sorted() { add(name) }
    stages = names.map { name in
      var stage = found.first { $0.name == name } ?? Stage(name: name)
      stage.report = reports.first { $0.stage == name }
      if failed.contains(name) { stage.failure = Failure(of: name, layout) }
      return stage
    }
  }

  /// The stage that makes the artifact known as `name`: of that name, else the first of that kind.
  func stage(
    _ name: String, uses kind: String, where fits: (ArtifactRecord) -> Bool = { _ in true }
  )
    -> Stage?
  {
    func isIt(_ stage: Stage) -> Bool {
      stage.record.map { $0.uses == kind && fits($0) } ?? false
    }
    return stages.first { $0.name == name && ($0.problem != nil || isIt($0)) }
      ?? stages.first { isIt($0) && !$0.isRemoved }
  }

  var color: Stage? { stage("color", uses: "decode-color") }
  var depth: Stage? {
    stage("depth", uses: "export-images") { $0.parameters["stream"] == .string("depth") }
  }
  var aligned: Stage? { stage("aligned", uses: "align-depth") }
  var imu: Stage? { stage("imu", uses: "match-imu") }
  var tables: Stage? { stage("tables", uses: "export-tables") }
  /// The stage that judges.
  var quality: Stage? { stage(CaptureQuality.usualStage, uses: CaptureQuality.stageKind) }
  var thumbnail: Stage? { stage("thumbnail", uses: "make-thumbnail") }

  private static func names(in folder: HeldFolder?, ending: String) -> [String] {
    ((try? folder?.list()) ?? []).filter { $0.kind == .file && $0.name.hasSuffix(ending) }
      .map { String($0.name.dropLast(ending.count)) }.sorted()
  }

  private static func read(_ name: String, _ layout: OutputLayout) -> Stage {
    var stage = Stage(name: name)
    guard let record = ArtifactRecord(at: layout.record(name), of: layout) else {
      stage.problem = "its record artifact.json cannot be read"
      return stage
    }
    if let problem = record.problem(of: name) {
      stage.problem = "its record artifact.json is not valid: \(problem)"
    } else {
      stage.record = record
    }
    return stage
  }
}
