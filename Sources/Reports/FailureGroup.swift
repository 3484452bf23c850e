import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// Failures of several captures that have one cause, told once.
struct FailureGroup {
  var cause: FailureCause?
  /// Of the first capture: file, what is wrong, remedy.
  var message: String
  /// The stage that failed; `nil`: the capture as a whole.
  var stage: String?
  /// What could not run because of it, of the first capture.
  var blocked: [String]
  /// Ids, in the order of the report.
  var captures: [String]

  /// What failed, in the order of first appearance. Interrupted captures are no failures.
  static func groups(_ report: RunReport) -> [FailureGroup] {
    var groups: [FailureGroup] = []
    var known: [Key: Int] = [:]
    for capture in report.captures where [.failed, .blocked].contains(capture.outcome) {
      for failure in failures(of: capture) {
        let key = Key(
          cause: failure.cause, stage: failure.stage, message: general(failure.message, capture))
        if let index = known[key] {
          groups[index].captures.append(capture.id)
        } else {
          known[key] = groups.count
          groups.append(failure)
        }
      }
    }
    return groups
  }

  private struct Key: Hashable {
    var cause: FailureCause?
    var stage: String?
    var message: String
  }

  /// The roots: a stage that is blocked by one that failed tells nothing new.
  private static func failures(of capture: CaptureReport) -> [FailureGroup] {
    let failed = capture.stages.filter { $0.outcome == .failed }
    let blocked = capture.stages.filter { $0.outcome == .blocked }
    func group(
      _ cause: FailureCause?, _ message: String?, _ stage: String?, _ blocked: [String]
    ) -> FailureGroup {
      FailureGroup(
        cause: cause ?? capture.cause, message: message ?? "no reason was given", stage: stage,
        blocked: blocked, captures: [capture.id])
    }
    if !failed.isEmpty {
      let behind = Dictionary(grouping: blocked) { root(of: $0, blocked, failed) }
      return failed.map { stage in
        group(
          stage.cause, stage.message, stage.stage, (behind[stage.stage] ?? []).map(\.stage))
      }
    }
    if let message = capture.message {
      return [group(capture.cause, message, nil, blocked.map(\.stage))]
    }
    guard let first = blocked.first else { return [group(capture.cause, nil, nil, [])] }
    return [
      group(
        first.cause, first.message, first.stage, blocked.dropFirst().map(\.stage))
    ]
  }

  /// The stage that failed and because of which another could not run, by what that one says of its input; the
  /// first that failed where it says nothing.
  private static func root(
    of stage: StageReport, _ blocked: [StageReport], _ failed: [StageReport]
  ) -> String {
    var (current, seen) = (stage, Set<String>())
    while seen.insert(current.stage).inserted {
      let message = current.message ?? ""
      if let root = failed.first(where: { message.contains("'\($0.stage)'") }) { return root.stage }
      guard
        let next = blocked.first(where: {
          $0.stage != current.stage && message.contains("'\($0.stage)'")
        })
      else { break }
      current = next
    }
    return failed.first?.stage ?? ""
  }

  /// The message without what is of this capture only, so that the same cause reads the same: its names,
  /// and the lines of a log below the first.
  private static func general(_ message: String, _ capture: CaptureReport) -> String {
    var text = message.split(separator: "\n").first.map(String.init) ?? ""
    if !capture.path.isEmpty { text = text.replacing(capture.path, with: "*") }
    // As a whole word: a short id stands in many others.
    if !capture.id.isEmpty {
      text =
        text.split(separator: capture.id, omittingEmptySubsequences: false)
        .reduce(into: (text: "", isFirst: true)) { joined, piece in
          let isWord =
            !(joined.text.last?.isLetterOrNumber ?? false)
            && !(piece.first?.isLetterOrNumber ?? false)
          if !joined.isFirst { joined.text += isWord ? "*" : capture.id }
          joined.text += piece
          joined.isFirst = false
        }.text
    }
    return text
  }

  /// - Parameters:
  ///   - name: how captures are named.
  ///   - log: the log of a stage of a capture, if there is one.
  func text(name: (String) -> String, log: (_ capture: String, _ stage: String) -> String?)
    -> String
  {
    var lines = ["\(cause?.rawValue ?? "failed"): \(message)"]
    if captures.count > 1 {
      lines[0] += " (the first of \(captures.count) captures with this failure)"
    }
    var place: [String] = []
    if let stage { place.append("stage \(stage)") }
    if !blocked.isEmpty { place.append("blocked by it: \(blocked.joined(separator: ", "))") }
    if !place.isEmpty { lines.append("  " + place.joined(separator: "; ")) }
    if let stage, let first = captures.first, let path = log(first, stage) {
      lines.append("  log \(path)")
    }
    let most = 50
    var names = captures.prefix(most).map(name).joined(separator: ", ")
    if captures.count > most { names += ", and \(captures.count - most) more" }
    lines.append("  \(captures.count == 1 ? "capture" : "captures") \(names)")
    return lines.joined(separator: "\n")
  }
}

extension Character {
  fileprivate var isLetterOrNumber: Bool { isLetter || isNumber }
}
