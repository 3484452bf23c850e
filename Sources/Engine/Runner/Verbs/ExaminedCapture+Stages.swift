import Captures
import Core

/// What an examined capture tells of itself and of its stages.
extension ExaminedCapture {
  /// The input folder, as far as it is known.
  var path: String? { recognition?.path.shown ?? cache.map { PathText.shown($0.folder) } }

  var family: CaptureFamily? { recognition?.family ?? cache?.family }

  /// Files that a complete upload would have, as in `capture.json`.
  var missing: [String] { collector?.summary.missingFiles ?? cache?.summary.missingFiles ?? [] }

  /// Warnings of opening, as noted, those of published artifacts and of stages that had nothing left, and one for each
  /// shortfall.
  var warnings: [CaptureWarning] {
    pipeline.stages.filter { asked.contains($0.name) }
      .reduce(pipeline.unsettled(cache?.warnings ?? [])) { found, stage in
        found.merged(with: facts[stage.name]?.warnings ?? [])
      }
      .merged(with: shortfalls.map(\.warning))
  }

  /// Streams that have lost more of what the capture declares than the pipeline accepts: by what was found
  /// when it was last opened, and by what published artifacts could not decode.
  var shortfalls: [Shortfall] {
    var holes: [String: FrameHoles] = [:]
    for record in published { holes.take(record) }
    return Shortfall.found(
      lacking: collector?.summary.lacking ?? cache?.summary.lacking ?? [],
      holes: holes, percent: pipeline.shortfallPercent)
  }

  /// Plans exactly the stages that it was asked for, none of them forced.
  var planner: Planner {
    var cleaned = StageChoice(Selection())
    cleaned.cleaned = choice.cleaned
    return Planner(pipeline, choice: cleaned, selected: asked)
  }

  /// How all stages stand, in pipeline order; failures are read from their notes.
  var states: [StageStatus] {
    let jobs = planner.plan(facts)
    let notes = Failure.all(of: jobs.map(\.stage), in: open)
    var failures: [String: String] = [:]
    for job in jobs {
      let problems = facts[job.stage]?.published?.record.problems ?? []
      failures[job.stage] =
        notes.first { $0.stage == job.stage }?.message
        ?? (problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
    var states = Self.states(
      jobs, asked, of: pipeline, published: facts.compactMapValues { $0.published?.record },
      removed: Set(facts.filter { $0.value.published?.state == .removed }.keys),
      failures: failures)
    // Of all requests in force: what does not apply is told whatever was asked for last.
    let named = Set(
      (cache?.requests.sources ?? []).flatMap { ($0.named ?? []) + ($0.listed ?? []) })
    for index in states.indices {
      switch states[index].state {
      case .notApplicable where named.contains(states[index].stage):
        states[index].askedByName = true
      case .notRequested where choice.cleaned.contains(states[index].stage):
        states[index].details = "cleaned: a run by hand makes it again"
      default: break
      }
    }
    return states
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
    let planned = Dictionary(firstOf: jobs.map { ($0.stage, $0) })
    return pipeline.stages.compactMap { stage in
      // A step that was removed after use and is needed again is planned without having been asked for.
      guard asked.contains(stage.name) else {
        return StageStatus(
          stage: stage.name, uses: stage.kind.name, state: .notRequested,
          isInner: stage.partOf != nil)
      }
      guard let job = planned[stage.name] else { return nil }
      var status = StageStatus(
        stage: job.stage, uses: job.uses, state: .done, isInner: stage.partOf != nil)
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
          // A record that cannot be believed is no record; something was made all the same.
          let isMade = record != nil || job.reason == .outputsAltered
          (status.state, status.reason) = (isMade ? .stale : .missing, job.reason)
          status.details = details
        }
      }
      states[job.stage] = status.state
      return status
    }
  }
}
