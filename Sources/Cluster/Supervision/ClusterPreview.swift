import Captures
import Engine
import Core
import SystemPackage

extension ClusterSupervisor {
  /// What a run would submit now, as text: the arrays with options and script, and the captures of
  /// their tasks. Writes and submits nothing; asks the site only for its limits.
  public func preview(_ targets: [CaptureTarget]) -> String {
    let root = options.output
    let system = makeSystem(root.appending(OutputNames.runs).appending("RUN"))
    var notes: [String] = []
    let site: Site
    switch system.site() {
    case .site(let known): site = known
    case .silent(let words), .unusable(let words):
      site = Site()
      notes.append(
        "# the site's limits are not known (\(words.onOneLine)): shown with Slurm's defaults")
    }
    let survey = UpToDateCheck(batch, targets)
    var work: [CaptureTarget] = []
    var past: [CaptureTarget] = []
    for finding in survey.look(at: Array(targets.indices), until: Interruption()) {
      if finding.upToDate == nil {
        work.append(targets[finding.index])
      } else {
        past.append(targets[finding.index])
      }
    }
    guard !work.isEmpty else { return "nothing to submit: everything is up to date" }
    let maker = ArrayTaskMaker(batch: batch, limits: limits, site: site)
    let (groups, basis) = maker.groups(work, past: past)
    let cost = groups.reduce(0) { $0 + $1.plan.costSeconds }
    notes.append(
      "# \(Plural.text(work.count, "capture")) in \(Plural.text(groups.count, "element")), about "
        + "\(DurationText.estimated(cost)) of work (\(basis))")
    let arrays = Grouping.arrays(of: groups.map(\.plan), maxArraySize: site.maxArraySize)
    let throttles = Grouping.throttles(limits.maxRunning, over: arrays.map(\.elements.count))
    for (number, array) in arrays.enumerated() {
      let submission = Submission(
        number: number + 1, name: "scanmill-RUN-\(number + 1)", comment: "scanmill RUN",
        firstElement: array.elements.lowerBound, count: array.elements.count,
        throttle: throttles[number] < array.elements.count ? throttles[number] : nil,
        request: array.request, runFolder: root.appending(OutputNames.runs).appending("RUN"),
        output: root,
        program: programPath, arguments: [])
      notes.append(system.preview(submission))
    }
    let shown = 20
    for (number, group) in groups.prefix(shown).enumerated() {
      let names = group.captures.prefix(5).map(\.name).joined(separator: ", ")
      let rest = group.captures.count > 5 ? ", … (\(group.captures.count))" : ""
      notes.append(
        "# element \(number), \(DurationText.estimated(group.plan.costSeconds)): \(names)\(rest)")
    }
    if groups.count > shown { notes.append("# … \(groups.count - shown) more") }
    return notes.joined(separator: "\n")
  }
}
