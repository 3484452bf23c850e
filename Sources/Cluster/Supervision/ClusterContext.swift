import Captures
import Engine

/// Values shared by all parts of a run on a batch system. They are constant during the run.
struct ClusterContext {
  let batch: BatchRun
  let plan: ClusterPlan
  let files: RunFiles
  let system: any BatchSystem
  let site: Site
  let events: any EventSink
  let interruption: Interruption
  let clock: RunClock
  /// Captures of the run, in order.
  let targets: [CaptureTarget]
  /// Index in `targets` by the name of the capture's output folder; the first if several have the
  /// same name.
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
