import Captures
import Output
import Pipeline
import Runner

/// What all parts of a run on a batch system work with. Nothing of it changes during the run.
struct ClusterContext {
  let batch: BatchRun
  let plan: ClusterPlan
  let files: RunFiles
  let system: any BatchSystem
  let site: Site
  let events: any EventSink
  let interruption: Interruption
  let clock: RunClock
  /// Captures of the run, in their order.
  let targets: [CaptureTarget]
  /// Where in `targets` a capture is, by the name of its folder in the output; of several the first.
  let indices: [String: Int]

  init(
    _ batch: BatchRun, _ plan: ClusterPlan, _ targets: [CaptureTarget], files: RunFiles,
    system: any BatchSystem, site: Site, events: any EventSink, interruption: Interruption,
    clock: RunClock
  ) {
    self.batch = batch
    self.plan = plan
    self.targets = targets
    self.files = files
    self.system = system
    self.site = site
    self.events = events
    self.interruption = interruption
    self.clock = clock
    indices = Dictionary(
      targets.enumerated().map { ($0.element.layout.name, $0.offset) }
    ) { first, _ in first }
  }

  var limits: ClusterLimits { plan.limits }
}
