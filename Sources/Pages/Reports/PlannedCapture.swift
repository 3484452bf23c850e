import Engine
import Core

/// The plan of one capture as it is printed.
struct PlannedCapture: Encodable {
  struct Stage: Encodable {
    var stage: String
    var uses: String
    var action: PlannedJob.Action
    var reason: Reason?
    var details: String?
    var isTold = false

    private enum CodingKeys: CodingKey { case stage, uses, action, reason, details }
  }

  var id: String
  /// Path of the input, for programs, which cannot infer it from the output's name.
  var path: String?
  var family: String?
  var stages: [Stage]
  /// `nil`: none.
  var removedResults: [RemovedResult]?
  var error: String?

  init(_ plan: CapturePlan) {
    id = plan.id
    path = plan.path
    family = plan.family
    stages = plan.jobs.map { job in
      Stage(
        stage: job.stage, uses: job.uses, action: job.action, reason: job.reason,
        details: job.details.isEmpty ? nil : job.details.joined(separator: "; "),
        isTold: job.isTold)
    }
    removedResults = plan.removedResults.isEmpty ? nil : plan.removedResults
    error = plan.error
  }

  /// What is to be done, in one line: `imu (window 50ms → 20ms), tables (input-rebuilt)`; empty: nothing.
  var group: String {
    if let error { return "cannot be read: \(error.onOneLine)" }
    var parts: [(why: String, stages: [String])] = []
    for stage in stages {
      guard stage.action == .run || stage.action == .blocked || stage.isTold else { continue }
      let details = stage.details?.replacing(" -> ", with: " → ").replacing(": ", with: " ")
      let reason =
        stage.action == .blocked
        ? "blocked"
        : stage.isTold ? "not possible: \(stage.details ?? "")" : stage.reason?.rawValue
      let why = (stage.reason == .parameters ? details : nil) ?? reason ?? details ?? ""
      if let index = parts.firstIndex(where: { $0.why == why }) {
        parts[index].stages.append(stage.stage)
      } else {
        parts.append((why, [stage.stage]))
      }
    }
    return parts.map { "\($0.stages.joined(separator: ", ")) (\($0.why.onOneLine))" }
      .joined(separator: "; ")
  }

  /// The capture's name, then one line per job, without a final line end.
  var text: String {
    var text = id.onOneLine
    if let error { text += "\n  cannot be read: \(error.onOneLine)" }
    for stage in stages {
      text += "\n  \(stage.stage): \(stage.action.rawValue)"
      if let reason = stage.reason { text += ", \(reason.rawValue)" }
      if let details = stage.details { text += " (\(details.onOneLine))" }
    }
    return text
  }
}

/// Numbers of captures and stages in plans, by action and reason.
public struct PlanCounts: Hashable, Sendable {
  /// What a plan means for a capture.
  private enum Need: String, CaseIterable {
    case run
    case upToDate = "up-to-date"
    case blocked, unreadable

    init(_ plan: CapturePlan) {
      if plan.error != nil {
        self = .unreadable
      } else if plan.jobs.contains(where: { $0.action == .run }) {
        self = .run
      } else {
        self = plan.jobs.contains { $0.action == .blocked } ? .blocked : .upToDate
      }
    }
  }

  private var captures: [Need: Int] = [:]
  private var actions: [PlannedJob.Action: Int] = [:]
  private var reasons: [Reason: Int] = [:]

  init() {}

  init(_ plan: CapturePlan) {
    captures = [Need(plan): 1]
    for job in plan.jobs {
      actions[job.action, default: 0] += 1
      if let reason = job.reason { reasons[reason, default: 0] += 1 }
    }
  }

  public mutating func add(_ other: PlanCounts) {
    captures.merge(other.captures, uniquingKeysWith: +)
    actions.merge(other.actions, uniquingKeysWith: +)
    reasons.merge(other.reasons, uniquingKeysWith: +)
  }

  public var blocked: Int { actions[.blocked] ?? 0 }
  public var toRun: Int { actions[.run] ?? 0 }

  /// A line about captures, one about stages by action, and one about reasons if anything will run.
  public var text: String {
    let all = captures.values.reduce(0, +)
    let needs = Need.allCases.compactMap { need in captures[need].map { "\($0) \(need.rawValue)" } }
    let counts = [PlannedJob.Action.run, .upToDate, .blocked, .notApplicable].map { action in
      "\(actions[action] ?? 0) \(action.rawValue)"
    }
    let line =
      Plural.text(all, "capture")
      + (needs.isEmpty ? "" : ": " + needs.joined(separator: ", ")) + "\nstages: "
      + counts.joined(separator: ", ")
    let why = Reason.allCases.compactMap { reason in
      reasons[reason].map { "\($0) \(reason.rawValue)" }
    }
    return why.isEmpty ? line : line + "\nreasons: " + why.joined(separator: ", ")
  }
}
