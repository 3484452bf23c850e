import Engine
import Core
import SystemPackage

/// Failures of several captures with the same cause.
struct FailureGroup {
  /// Failure of the first capture.
  var failure: Failure
  /// Further stages of the first capture that failed with the same message: one file that two stages read.
  var others: [String] = []
  /// Stages of the first capture that were blocked by it.
  var blocked: [String]
  /// Whether nothing failed: the stages read what the run was not asked to make.
  var isBlocked = false
  /// Ids in the order of the report.
  var captures: [String]

  /// The groups in the order of first occurrence. Interrupted captures are not failures.
  static func groups(_ report: RunReport) -> [FailureGroup] {
    var groups: [FailureGroup] = []
    var known: [Failure: Int] = [:]
    for capture in report.captures where [.failed, .blocked].contains(capture.outcome) {
      for group in failures(of: capture) {
        var key = group.failure
        key.message = key.message.map { general($0, capture) }
        key.detail?.file = nil
        key.detail?.remedy = nil
        if key.detail?.code == .diskFull {
          // One full disk, whatever was being written to it.
          (key.message, key.stage, key.detail) = (nil, nil, FailureDetail(.diskFull))
        }
        if let index = known[key] {
          if groups[index].captures.last != capture.id { groups[index].captures.append(capture.id) }
        } else {
          known[key] = groups.count
          groups.append(group)
        }
      }
    }
    return groups
  }

  /// The failures of a capture, without stages that are only blocked by a failed one.
  private static func failures(of capture: CaptureReport) -> [FailureGroup] {
    let failed = capture.stages.filter { $0.outcome == .failed }
    let blocked = capture.stages.filter { $0.outcome == .blocked }
    func group(_ stage: StageReport?, _ blocked: [String]) -> FailureGroup {
      var failure = stage?.why ?? capture.why
      (failure.stage, failure.message) = (stage?.stage, failure.text)
      failure.cause = failure.cause ?? capture.why.cause
      return FailureGroup(failure: failure, blocked: blocked, captures: [capture.id])
    }
    if !failed.isEmpty {
      let behind = Dictionary(grouping: blocked) { root(of: $0, blocked, failed) }
      return failed.reduce(into: []) { groups, stage in
        let blocked = (behind[stage.stage] ?? []).map(\.stage)
        let next = group(stage, blocked)
        if let same = groups.firstIndex(where: {
          $0.failure.message == next.failure.message && $0.failure.cause == next.failure.cause
        }) {
          groups[same].others.append(stage.stage)
          groups[same].blocked += blocked
        } else {
          groups.append(next)
        }
      }
    }
    if capture.why.message != nil { return [group(nil, blocked.map(\.stage))] }
    var alone = group(blocked.first, [])
    alone.others = blocked.dropFirst().map(\.stage)
    alone.isBlocked = !blocked.isEmpty
    return [alone]
  }

  /// The failed stage that blocked another one, by the message about its input; without one, the
  /// first failed stage.
  private static func root(
    of stage: StageReport, _ blocked: [StageReport], _ failed: [StageReport]
  ) -> String {
    var (current, seen) = (stage, Set<String>())
    while seen.insert(current.stage).inserted {
      let message = current.why.message ?? ""
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

  /// The message without parts specific to this capture (its names, and log lines after the first
  /// line), so that equal causes give equal texts.
  private static func general(_ message: String, _ capture: CaptureReport) -> String {
    var text = message.split(separator: "\n").first.map(String.init) ?? ""
    if !capture.path.isEmpty { text = text.replacing(capture.path, with: "*") }
    // As a whole word, since a short id may be part of other words.
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
  ///   - name: the displayed name of a capture.
  ///   - log: the log of a capture's stage, if there is one.
  func text(name: (String) -> String, log: (_ capture: String, _ stage: String) -> String?)
    -> String
  {
    let stage = failure.stage
    var lines = [
      "\(failure.cause?.rawValue ?? (isBlocked ? "blocked" : "failed")): \(failure.text)"
    ]
    if captures.count > 1 {
      lines[0] += " (the first of \(captures.count) captures with this failure)"
    }
    var place: [String] = []
    if let stage {
      place.append(
        (others.isEmpty ? "stage " : "stages ") + ([stage] + others).joined(separator: ", "))
    }
    if !blocked.isEmpty { place.append("blocked by it: \(blocked.joined(separator: ", "))") }
    if !place.isEmpty { lines.append("  " + place.joined(separator: "; ")) }
    if isBlocked, let stage { lines.append("  " + Remedy.ofBlocked([stage] + others)) }
    if let stage, let first = captures.first, let path = log(first, stage) {
      lines.append("  log \(path)")
    }
    let most = 50
    var names = captures.prefix(most).map(name).joined(separator: ", ")
    if captures.count > most { names += ", and \(captures.count - most) more" }
    lines.append("  \(Plural.word(captures.count, "capture")) \(names)")
    return lines.joined(separator: "\n")
  }
}

extension Character {
  fileprivate var isLetterOrNumber: Bool { isLetter || isNumber }
}
