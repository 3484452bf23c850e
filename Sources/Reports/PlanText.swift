import Pipeline
import Runner

/// What a dry run prints, in text and as JSON.
public struct PlanText: Encodable, Sendable {
  struct Stage: Encodable {
    var stage: String
    var uses: String
    var action: PlannedJob.Action
    var reason: Reason?
    var details: String?
  }

  struct Capture: Encodable {
    var id: String
    var stages: [Stage]
    var error: String?
  }

  var schema = 1
  var captures: [Capture]

  public init(_ plans: [CapturePlan]) {
    captures = plans.map { plan in
      Capture(
        id: plan.id,
        stages: plan.jobs.map { job in
          Stage(
            stage: job.stage, uses: job.uses, action: job.action, reason: job.reason,
            details: job.details.isEmpty ? nil : job.details.joined(separator: "; "))
        }, error: plan.error)
    }
  }

  /// One line per job that would run, and counts at the end.
  public var text: String {
    var lines: [String] = []
    for capture in captures {
      lines.append(capture.id)
      if let error = capture.error { lines.append("  cannot be read: \(error)") }
      for stage in capture.stages {
        var text = "  \(stage.stage): \(stage.action.rawValue)"
        if let reason = stage.reason { text += ", \(reason.rawValue)" }
        if let details = stage.details { text += " (\(details))" }
        lines.append(text)
      }
    }
    let all = captures.flatMap(\.stages)
    let counts = [PlannedJob.Action.run, .upToDate, .blocked, .notApplicable].map { action in
      "\(all.count { $0.action == action }) \(action.rawValue)"
    }
    lines.append("\(captures.count) captures: " + counts.joined(separator: ", "))
    return lines.joined(separator: "\n")
  }
}
