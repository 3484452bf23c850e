import Captures

/// What is to be done about one capture, as decided before anything runs. Nothing of it changes during the run.
struct CaptureJobs {
  let planner: Planner
  /// Stages of the run, in pipeline order.
  let stages: [StageDefinition]
  /// Which intermediates may go, and when.
  let removal: IntermediateRemoval
  private let jobs: [String: PlannedJob]
  /// Stages that have nothing to do for this capture, selected or not.
  private let inapplicable: Set<String>
  /// What stages had to tell that found out in an earlier run that nothing is left for them.
  private let emptied: [String: [CaptureWarning]]

  /// Compares the pipeline with what is published. Cost: that of `FactsCollector.facts`.
  init(_ session: CaptureSession, _ pipeline: PipelineDefinition, _ selection: Selection) {
    let collector = session.collector
    let pipeline = pipeline.adapted(to: collector.summary, selection, known: collector.store.known)
    planner = Planner(pipeline, selection: selection)
    let facts = collector.facts(of: pipeline)
    inapplicable = Set(
      facts.filter { if case .notApplicable = $0.value.applicability { true } else { false } }.keys)
    emptied = facts.compactMapValues(\.empty?.warnings)
    removal = IntermediateRemoval(
      pipeline: pipeline,
      removedBefore: Set(facts.filter { $0.value.published?.state == .removed }.keys))
    let plan = planner.plan(facts)
    jobs = Dictionary(plan.map { ($0.stage, $0) }, uniquingKeysWith: { first, _ in first })
    stages = pipeline.stages.filter { stage in plan.contains { $0.stage == stage.name } }
  }

  /// The plan of one stage; `nil` for a stage that is no part of the run.
  subscript(name: String) -> (stage: StageDefinition, job: PlannedJob)? {
    guard let stage = planner.pipeline[name], let job = jobs[name] else { return nil }
    return (stage, job)
  }

  /// All jobs before anything has run.
  func makeScheduler() -> Scheduler {
    Scheduler(stages, dormant: Set(jobs.values.filter(\.isRemoved).map(\.stage)))
  }

  /// Whether a stage that is no part of the run has nothing to do for this capture.
  func isInapplicable(_ name: String) -> Bool { inapplicable.contains(name) }

  /// The result of a stage that does not apply.
  func notApplicable(_ stage: StageDefinition, _ job: PlannedJob) -> JobResult {
    var result = JobResult(stage, .notApplicable, job.details.first)
    result.warnings = emptied[stage.name] ?? []
    return result
  }
}
