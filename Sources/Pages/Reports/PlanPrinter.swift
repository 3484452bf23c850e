import Captures
import Core
import Engine

/// Prints plans: as JSON or at length one by one, else captures with the same plan together at the end. Keeps counts
/// only, and one entry per kind of plan.
public struct PlanPrinter {
  /// The printed form of a plan.
  public struct Page: Sendable {
    var bytes: [UInt8]
    var counts: PlanCounts
    var isUnreadable: Bool
    /// The exit code where its results may not be written.
    var refusal: Int?
    var id: String
    /// What is to be done, without the capture; empty: nothing.
    var group: String
    var removed: [RemovedResult]
    /// A line for each warning.
    var warnings: [String]
  }

  private struct Group {
    var text: String
    var first: String
    var count: Int
  }

  public private(set) var counts = PlanCounts()
  /// Number of captures that cannot be opened.
  public private(set) var unreadable = 0
  /// Exit codes of captures whose results may not be written.
  public private(set) var refusals: Set<Int> = []
  private let json: Bool
  private let isVerbose: Bool
  private var groups: [Group] = []
  private var groupIndex: [String: Int] = [:]
  private let change: RequestChange
  private let write: ([UInt8]) -> Void
  /// The results that would be removed, for each capture that has some.
  private var removed: [[RemovedResult]] = []
  private var warnings: [String] = []
  private var waiting: [UInt8] = []
  private var isFirst = true

  /// - Parameters:
  ///   - isVerbose: one by one, with every stage.
  ///   - change: what the plans redo because settings have changed; included in JSON.
  public init(
    json: Bool, isVerbose: Bool = true, change: RequestChange = RequestChange(),
    write: @escaping ([UInt8]) -> Void
  ) {
    self.isVerbose = isVerbose
    self.change = change
    self.json = json
    self.write = write
  }

  /// Formats a plan. The expensive part; may be called by any thread.
  public var render: @Sendable (CapturePlan) throws -> Page {
    { [json, isVerbose] plan in
      var told = plan
      if !isVerbose { told.jobs.removeAll { plan.inner.contains($0.stage) } }
      let capture = PlannedCapture(told)
      return Page(
        bytes: json
          ? try JSONText.canonical(capture) : isVerbose ? Array(capture.text.utf8) : [],
        counts: PlanCounts(told), isUnreadable: plan.error != nil && plan.refusal == nil,
        refusal: plan.refusal, id: plan.id,
        group: json || isVerbose ? "" : capture.group, removed: plan.removedResults,
        warnings: plan.warnings.map {
          "\(plan.id.onOneLine): \($0.message) (\($0.code.rawValue))"
        })
    }
  }

  public mutating func print(_ page: Page) throws {
    counts.add(page.counts)
    if page.isUnreadable { unreadable += 1 }
    if let refusal = page.refusal { refusals.insert(refusal) }
    if !json, !page.removed.isEmpty { removed.append(page.removed) }
    if !json { warnings += page.warnings }
    guard json || isVerbose else {
      if let index = groupIndex[page.group] {
        groups[index].count += 1
      } else {
        groupIndex[page.group] = groups.count
        groups.append(Group(text: page.group, first: page.id, count: 1))
      }
      return
    }
    if json { waiting += isFirst ? try frame().head : [UInt8(ascii: ",")] }
    if json || !isFirst { waiting.append(UInt8(ascii: "\n")) }
    isFirst = false
    waiting += page.bytes
    if waiting.count > 1 << 16 { flush() }
  }

  /// Prints the end of the JSON object, or the counts.
  public mutating func finish() throws {
    if json {
      let frame = try frame()
      waiting += (isFirst ? frame.head : []) + frame.tail
    } else {
      for group in groups.filter({ !$0.text.isEmpty }) + groups.filter(\.text.isEmpty) {
        let who = group.count == 1 ? group.first.onOneLine : "\(group.count) captures"
        waiting += Array(
          (group.text.isEmpty ? "\(group.count) up to date\n" : "\(who): \(group.text)\n").utf8)
      }
      if !isFirst { waiting.append(UInt8(ascii: "\n")) }
      for line in RemovedResult.lines(removed) {
        waiting += Array("would be removed: \(line)\n".utf8)
      }
      for line in warnings { waiting += Array("warning: \(line)\n".utf8) }
      waiting += Array(counts.text.utf8)
    }
    waiting.append(UInt8(ascii: "\n"))
    flush()
  }

  private mutating func flush() {
    write(waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  /// The JSON object without captures, split where they are inserted. It tells with what plans are compared: the
  /// request of this command line, whatever earlier requests were.
  private func frame() throws -> (head: [UInt8], tail: [UInt8]) {
    let document: JSONObject = [
      "schema": 1, "captures": [String](), "comparedWith": ComparisonNotion.commandLine,
      "settings": change.settings.isEmpty ? nil : change.settings,
    ]
    let empty = try JSONText.canonical(document.withoutNulls)
    let end = empty.firstIndex(of: UInt8(ascii: "]")) ?? empty.endIndex
    return (Array(empty[..<end]), Array(empty[end...]))
  }
}

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
  /// `nil`: none.
  var warnings: [CaptureWarning]?
  var error: String?
  /// Whether the error is about its folder in the output.
  private let isRefused: Bool

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
    warnings = plan.warnings.isEmpty ? nil : plan.warnings
    error = plan.error
    isRefused = plan.refusal != nil
  }

  private enum CodingKeys: CodingKey {
    case id, path, family, stages, removedResults, warnings, error
  }

  /// Why nothing can be planned; `nil`: it can.
  private var problem: String? {
    error.map { (isRefused ? "" : "cannot be read: ") + $0.onOneLine }
  }

  /// What is to be done, in one line: `imu (window 50ms → 20ms), tables (input-rebuilt)`; empty: nothing.
  var group: String {
    if let problem { return problem }
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
    if let problem { text += "\n  \(problem)" }
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
    case notPossible = "not possible"
    case blocked, unreadable

    init(_ plan: CapturePlan) {
      if plan.error != nil {
        self = plan.refusal == nil ? .unreadable : .blocked
      } else if plan.jobs.contains(where: { $0.action == .run }) {
        self = .run
      } else {
        self =
          plan.jobs.contains { $0.action == .blocked }
          ? .blocked : plan.isNotPossible ? .notPossible : .upToDate
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
