import Pipeline
import Runner
import Storage

/// How captures stand, in text and as JSON.
public struct StatusText: Encodable, Sendable {
  var schema = 1
  var captures: [CaptureStatus]

  public init(_ captures: [CaptureStatus]) {
    self.captures = captures
  }

  /// A table of captures and stages, counts, and below what is not done and why.
  public var text: String {
    var table = TextTable()
    let columns = columns
    table.add(["capture"] + columns)
    for capture in captures {
      let states = Dictionary(capture.stages.map { ($0.stage, $0.state) }) { first, _ in first }
      table.add(
        [capture.id]
          + columns.map { states[$0].map { $0 == .notApplicable ? "-" : $0.rawValue } ?? "" })
    }
    let details = captures.compactMap(Self.details)
    return ([table.text, counts] + details).joined(separator: "\n\n")
  }

  /// Stages in pipeline order; those of other pipelines after them.
  private var columns: [String] {
    var seen: Set<String> = []
    return captures.flatMap(\.stages).map(\.stage).filter { seen.insert($0).inserted }
  }

  private var counts: String {
    let all = captures.flatMap(\.stages)
    let counts = StageState.allCases.compactMap { state -> String? in
      let count = all.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    return "\(captures.count) \(captures.count == 1 ? "capture" : "captures"): "
      + counts.joined(separator: ", ")
  }

  private static func details(_ capture: CaptureStatus) -> String? {
    var lines: [String] = []
    if let holder = capture.lockedBy { lines.append("  being worked on by \(holder)") }
    lines += capture.notes.map { "  \($0.onOneLine)" }
    for stage in capture.stages where ![.done, .notApplicable].contains(stage.state) {
      var line = "  \(stage.stage) \(stage.state.rawValue)"
      let why = [
        stage.state == .stale ? stage.reason?.rawValue : nil,
        stage.details,
      ].compactMap { $0 }
      if !why.isEmpty { line += ": " + why.joined(separator: ", ") }
      lines.append(line)
    }
    return lines.isEmpty ? nil : ([capture.id.onOneLine] + lines).joined(separator: "\n")
  }
}
