import Captures
import Core
import SystemPackage

/// How all stages of a capture stand.
public struct CaptureStatus: Sendable, Encodable, Hashable {
  public var id: String
  /// The input folder, as far as it is known.
  public var path: String?
  public var family: String?
  public var pipeline: String
  var inputGone: Bool
  var lockedBy: String?
  public var notes: [String]
  /// Kinds of warnings; notes do not count.
  public var warnings: Int
  /// Files that a complete upload would have, as in `capture.json`.
  var missing: [String]
  public var stages: [StageStatus]

  init(
    id: String, path: String?, family: String?, pipeline: String, inputGone: Bool = false,
    lockedBy: String? = nil, notes: [String] = [], warnings: Int = 0, missing: [String] = [],
    stages: [StageStatus]
  ) {
    self.id = id
    self.path = path
    self.family = family
    self.pipeline = pipeline
    self.inputGone = inputGone
    self.lockedBy = lockedBy
    self.notes = notes
    self.warnings = warnings
    self.missing = missing
    self.stages = stages
  }

  /// From what was found; failures are read from their notes.
  init(_ capture: ExaminedCapture) {
    let asked = capture.asked
    let jobs = Planner(capture.pipeline, stages: asked, cleaned: capture.choice.cleaned)
      .plan(capture.facts)
    let notes = FailureNote.all(of: jobs.map(\.stage), in: capture.open)
    var failures: [String: String] = [:]
    for job in jobs {
      let problems = capture.facts[job.stage]?.published?.record.problems ?? []
      failures[job.stage] =
        notes.first { $0.failure.stage == job.stage }?.failure.message
        ?? (problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
    self.init(
      id: capture.layout.name,
      path: capture.recognition?.path.shown
        ?? capture.cache.map { PathText.shown($0.folder) },
      family: (capture.recognition?.family ?? capture.cache?.family)?.rawValue,
      pipeline: capture.pipeline.name, inputGone: capture.isInputGone,
      lockedBy: capture.lockedBy, notes: capture.notes,
      warnings: Self.warnings(of: capture).counted.kinds,
      missing: capture.collector?.summary.missingFiles ?? capture.cache?.summary.missingFiles ?? [],
      stages: Self.states(
        jobs, asked, of: capture.pipeline,
        published: capture.facts.compactMapValues { $0.published?.record },
        removed: Set(capture.facts.filter { $0.value.published?.state == .removed }.keys),
        failures: failures))
    let last = capture.cache?.requests.last
    markAskedByName((last?.named ?? []) + (last?.listed ?? []))
  }

  /// Marks those that do not apply.
  private mutating func markAskedByName(_ named: [String]) {
    for index in stages.indices
    where stages[index].state == .notApplicable && named.contains(stages[index].stage) {
      stages[index].askedByName = true
    }
  }

  /// Warnings of opening, as noted, those of published artifacts and of stages that had nothing left, and one for each
  /// shortfall.
  public static func warnings(of capture: ExaminedCapture) -> [CaptureWarning] {
    let asked = capture.asked
    let found = capture.pipeline.stages.filter { asked.contains($0.name) }
      .reduce(capture.pipeline.unsettled(capture.cache?.warnings ?? [])) { found, stage in
        found.merged(with: capture.facts[stage.name]?.warnings ?? [])
      }
    return found.merged(with: shortfalls(of: capture).map(\.warning))
  }

  /// Streams that have lost more of what the capture declares than the pipeline accepts: by what was found
  /// when it was last opened, and by what published artifacts could not decode.
  static func shortfalls(of capture: ExaminedCapture) -> [Shortfall] {
    var holes: [String: FrameHoles] = [:]
    for record in capture.published { holes.take(record) }
    return Shortfall.found(
      lacking: capture.collector?.summary.lacking ?? capture.cache?.summary.lacking ?? [],
      holes: holes, percent: capture.pipeline.shortfallPercent)
  }

  /// The states of all stages, in pipeline order: those of planned jobs, and of what was not asked for. Pure.
  ///
  /// A failure counts until what failed is up to date; what needs a failed stage and would run is
  /// blocked.
  static func states(
    _ jobs: [PlannedJob], _ asked: Set<String>, of pipeline: PipelineDefinition,
    published: [String: ArtifactRecord], removed: Set<String> = [], failures: [String: String]
  ) -> [StageStatus] {
    var states: [String: StageState] = [:]
    let planned = Dictionary(jobs.map { ($0.stage, $0) }) { first, _ in first }
    return pipeline.stages.compactMap { stage in
      // A step that was removed after use and is needed again is planned without having been asked for.
      guard asked.contains(stage.name) else {
        return StageStatus(stage: stage.name, uses: stage.kind.name, state: .notRequested)
      }
      guard let job = planned[stage.name] else { return nil }
      var status = StageStatus(stage: job.stage, uses: job.uses, state: .done)
      let needed = pipeline[job.stage]?.inputs.filter { !$0.isOptional }.map(\.stage) ?? []
      func isStuck(_ stage: String) -> Bool {
        [.failed, .obstructed, .blocked].contains(states[stage])
      }
      let stopper = needed.first(where: isStuck)
      let details = job.details.isEmpty ? nil : job.details.joined(separator: "; ")
      switch job.action {
      case .upToDate: break
      // Removed after use and wanted again: that is no lack.
      case .run where removed.contains(job.stage) && job.reason == .outputsMissing: break
      case .notApplicable: (status.state, status.details) = (.notApplicable, details)
      case .blocked:
        (status.state, status.details) = (job.isObstructed ? .obstructed : .blocked, details)
      case .run:
        // First: a note of an earlier failure of its own says nothing while it cannot even be tried.
        if let stopper {
          status.state = .blocked
          status.details = "its input '\(stopper)' \(states[stopper]?.rawValue ?? "")"
        } else if let message = failures[job.stage] {
          (status.state, status.reason, status.details) = (.failed, job.reason, message)
        } else {
          let record = published[job.stage]
          if let record, job.reason == .inputRebuilt {
            // Made without inputs that failed then and would be tried again now: all that can be.
            let lacking = pipeline[job.stage]?.inputs.count { input in
              isStuck(input.stage)
                && record.inputs.artifacts[input.port] == nil
            }
            if lacking == job.details.count { break }
          }
          (status.state, status.reason) = (record == nil ? .missing : .stale, job.reason)
          status.details = details
        }
      }
      states[job.stage] = status.state
      return status
    }
  }
}
