import Core

/// The state of captures, as text and as JSON.
public struct StatusText: Encodable, Sendable {
  /// Information about a capture in addition to its stages.
  public struct Condition: Encodable, Sendable {
    /// The state as text: `done with warnings`.
    public var state: String
    /// The verdict on the quality, as text; `nil`: it was not judged.
    public var quality: String?
    /// Additional lines.
    public var lines: [String] = []
  }

  var schema = 1
  var captures: [CaptureStatus]
  /// Whether stages that were not requested have columns.
  var showsAllStages = false
  private var conditions: [Condition] = []

  private enum CodingKeys: CodingKey {
    case schema, captures
  }

  init(_ captures: [CaptureStatus]) {
    self.captures = captures
  }

  /// - Parameter conditions: one per capture.
  init(_ captures: [CaptureStatus], conditions: [Condition]) {
    self.captures = captures
    self.conditions = conditions
  }

  /// Whether anything needs attention: a stage that is stale, failed, blocked or missing; if
  /// `isStrict`, also warnings and missing files.
  func needsPerson(isStrict: Bool) -> Bool {
    captures.contains { capture in
      capture.stages.contains(where: \.state.isLack)
        || (isStrict && (capture.warnings > 0 || !capture.missing.isEmpty))
    }
  }

  /// A table of captures and stages, counts, and the reasons for what is not done.
  public var text: String {
    var table = TextTable()
    let columns = columns
    let hasQuality = conditions.contains { $0.quality != nil }
    table.add(
      ["capture"] + (conditions.isEmpty ? [] : ["state"]) + (hasQuality ? ["verdict"] : []) + columns
    )
    for (index, capture) in captures.enumerated() {
      let states = Dictionary(capture.stages.map { ($0.stage, $0.state) }) { first, _ in first }
      table.add(
        [capture.id] + state(index) + (hasQuality ? [conditions[index].quality ?? ""] : [])
          + columns.map { states[$0].map(cell) ?? "" })
    }
    let details = captures.enumerated().compactMap { index, capture in
      Self.details(capture, conditions.indices.contains(index) ? conditions[index].lines : [])
    }
    return ([table.text, counts] + details).joined(separator: "\n\n")
  }

  private func cell(_ state: StageState) -> String {
    switch state {
    case .notApplicable: "-"
    case .notRequested: showsAllStages ? state.rawValue : ""
    default: state.rawValue
    }
  }

  private func state(_ index: Int) -> [String] {
    conditions.isEmpty ? [] : [conditions[index].state]
  }

  /// Stages in pipeline order, without those that were requested for no capture, followed by stages
  /// of other pipelines.
  private var columns: [String] {
    var seen: Set<String> = []
    return captures.flatMap(\.stages)
      .filter { showsAllStages || $0.state != .notRequested }
      .map(\.stage).filter { seen.insert($0).inserted }
  }

  private var counts: String {
    let all = captures.flatMap(\.stages)
    let counts = StageState.allCases.compactMap { state -> String? in
      // Stages that were not requested do not count.
      if state == .notRequested { return nil }
      let count = all.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    return "stages: " + (counts.isEmpty ? "none" : counts.joined(separator: ", "))
  }

  private static func details(_ capture: CaptureStatus, _ condition: [String]) -> String? {
    var lines = condition.map { "  \($0.onOneLine)" }
    if let holder = capture.lockedBy { lines.append("  being worked on by \(holder)") }
    lines += capture.notes.map { "  \($0.onOneLine)" }
    for stage in capture.stages where stage.state.isLack {
      var line = "  \(stage.stage) \(stage.state.rawValue)"
      let why = [
        stage.state == .stale ? stage.reason?.rawValue : nil,
        stage.details.map { details in
          !details.isEmpty && condition.contains { $0.contains(details) } ? "as above" : details
        },
      ].compactMap { $0 }
      if !why.isEmpty { line += ": " + why.joined(separator: ", ") }
      lines.append(line)
    }
    for stage in capture.stages where stage.askedByName == true {
      lines.append(
        "  not made: \(stage.stage), \(stage.details ?? "it does not apply")".onOneLine)
    }
    return lines.isEmpty ? nil : ([capture.id.onOneLine] + lines).joined(separator: "\n")
  }
}
