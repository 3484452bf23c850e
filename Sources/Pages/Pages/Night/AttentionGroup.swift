import Captures
import Engine
import Core

/// Captures that need attention for the same reason: one card on the page.
struct AttentionGroup {
  enum Kind: Hashable {
    case failed(FailureCause?)
    /// The folder no longer exists.
    case gone
    case incomplete
    /// Processed although files are missing.
    case partial
    /// An upload that does not go on.
    case stalled
    /// Done, but a stream has lost more than the pipeline accepts.
    case shortfall
  }

  var kind: Kind
  var state: CaptureState
  /// The stage that failed first; `nil` for the capture as a whole.
  var stage: String?
  /// The message of the first capture.
  var message: String?
  /// In the order of the report.
  var captures: [NightCapture]

  private struct Key: Hashable {
    var kind: Kind
    var state: CaptureState
    var stage: String?
    var message: String
  }

  /// The groups in the order of first occurrence. Cost: one pass.
  static func groups(_ captures: [NightCapture]) -> [AttentionGroup] {
    var groups: [AttentionGroup] = []
    var known: [Key: Int] = [:]
    for capture in captures where capture.needsPerson {
      let hasFailure =
        capture.state != .incomplete && capture.state != .stalledUpload && !capture.state.isReady
      let failure = hasFailure ? capture.failures.first : nil
      let kind: Kind =
        if capture.isShort {
          .shortfall
        } else if capture.isPartial {
          .partial
        } else if capture.state == .incomplete {
          .incomplete
        } else if capture.state == .stalledUpload {
          .stalled
        } else {
          capture.gone ? .gone : .failed(failure?.failure.cause)
        }
      let message =
        switch kind {
        case .incomplete, .partial: "\(capture.family ?? "") \(capture.missing.sorted())"
        case .shortfall: (capture.shortfalls ?? []).map(\.stream).joined(separator: " ")
        // The state at the time of disappearance does not matter.
        case .gone, .stalled: ""
        case .failed: failure.map { general($0.message, capture) } ?? ""
        }
      let key = Key(
        kind: kind, state: capture.state, stage: kind == .gone ? nil : failure?.failure.stage,
        message: message)
      if let index = known[key] {
        groups[index].captures.append(capture)
      } else {
        known[key] = groups.count
        groups.append(
          AttentionGroup(
            kind: kind, state: capture.state, stage: failure?.failure.stage,
            message: failure?.message,
            captures: [capture]))
      }
    }
    return groups
  }

  /// The message without what differs between captures with the same failure: names, numbers
  /// (records, byte offsets), and lines after the first.
  static func general(_ message: String, _ capture: NightCapture) -> String {
    var text = message.split(separator: "\n").first.map(String.init) ?? ""
    for name in [capture.path, capture.path.map(PathText.shown), capture.id] {
      guard let name, !name.isEmpty else { continue }
      text = text.replacing(name, with: "*")
    }
    var result = ""
    for character in text {
      if character.isNumber {
        if result.last != "#" { result.append("#") }
      } else {
        result.append(character)
      }
    }
    return result
  }

  /// A few words: `files cannot be read`.
  var title: String {
    switch kind {
    case .incomplete:
      let lacks = captures.first.map { OutcomeWords.lacks($0.missing) } ?? ""
      return lacks.isEmpty ? "files are missing" : lacks
    case .shortfall:
      return Phrasing.list((captures.first?.shortfalls ?? []).map(losses))
    case .partial:
      let lacks = captures.first.map { OutcomeWords.lacks($0.missing) } ?? ""
      return lacks.isEmpty ? "processed without all files" : "processed as it was, \(lacks)"
    case .stalled: return "the upload does not go on"
    case .gone: return "the folder has disappeared"
    case .failed(.input): return "files cannot be read"
    case .failed(.permission): return "files may not be read"
    case .failed(.program): return stage.map { "stage \($0) failed" } ?? "a stage failed"
    case .failed(.machine): return "the machine had a problem"
    case .failed(nil): return stage.map { "stage \($0) failed" } ?? "could not be processed"
    }
  }

  /// How much of a stream the captures have lost: `3 % of imu lost`, `3 to 58 % of imu lost`.
  private func losses(of shortfall: Shortfall) -> String {
    let all = captures.flatMap { $0.shortfalls ?? [] }.filter { $0.stream == shortfall.stream }
    guard let least = all.min(by: { $0.lostPercent < $1.lostPercent })?.lossWords,
      let most = all.max(by: { $0.lostPercent < $1.lostPercent })?.lossWords, least != most
    else { return shortfall.lossWords }
    return "\(least.prefix { $0 != "%" })to \(most)"
  }

  /// The meaning, from the code reference.
  var meaning: String {
    switch kind {
    case .incomplete:
      "Nothing has changed for a while, and files that every capture of this kind has are missing."
    case .partial:
      "It was processed without files that every capture of this kind has. Results that need these files do not exist."
    case .stalled: CodeReference["stalled-upload"]?.meaning ?? ""
    case .shortfall: CodeReference["shortfall"]?.meaning ?? ""
    case .gone:
      "Its folder disappeared from STAGING before everything was done. What was published is kept."
    case .failed(let cause): cause.flatMap { CodeReference[$0.rawValue]?.meaning } ?? ""
    }
  }

  /// What can be done; that of the report if it is the same for all captures.
  var remedy: String {
    // Captures with missing files have a folder each, which their line names.
    let isShared = captures.count == 1 || (kind != .incomplete && kind != .partial)
    if isShared, let own = captures.first?.remedy, !own.isEmpty { return own }
    switch kind {
    case .incomplete:
      return
        "Finish the upload from the device; the capture is then picked up automatically. A capture that never becomes complete is processed as it is after a while."
    case .partial: return "Copy the missing files; the capture is then picked up automatically."
    case .stalled: return CodeReference["stalled-upload"]?.remedy ?? ""
    case .shortfall: return CodeReference["shortfall"]?.remedy ?? ""
    case .gone:
      return "Put the folder back, or upload it again; it is then picked up automatically."
    case .failed(let cause):
      return cause.flatMap { CodeReference[$0.rawValue]?.remedy }
        ?? "Read the log, then try again."
    }
  }
}
