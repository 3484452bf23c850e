import Captures
import Core
import Engine

/// Captures that need a person for which the same helps: one card on the page.
struct AttentionGroup {
  /// The first reason of the first capture.
  var reason: NeedReason
  /// Why the first capture has failed; `nil`: none has.
  var failure: Failure?
  var isGone: Bool
  /// In the order of the report.
  var captures: [CaptureRow]

  private struct Key: Hashable {
    var code: NeedReason.Code
    var cause: FailureCause?
    var detail: FailureDetail.Code?
    var isGone: Bool
    /// Without what differs between captures.
    var remedy: String
  }

  /// The groups in the order of first occurrence: each capture by its first reason. Cost: one pass.
  static func groups(_ captures: [CaptureRow]) -> [AttentionGroup] {
    var groups: [AttentionGroup] = []
    var known: [Key: Int] = [:]
    for capture in captures {
      guard let reason = capture.reasons.first else { continue }
      let hasFailed = reason.code == .failed || reason.code == .quarantined
      let failure = hasFailed ? capture.failures.first : nil
      let isGone = hasFailed && capture.gone
      let key = Key(
        code: reason.code, cause: failure?.cause, detail: failure?.detail?.code, isGone: isGone,
        // Each place lacks files of its own; the line of a capture names them.
        remedy: reason.code == .shortfall ? "" : general(reason.remedy ?? "", capture))
      if let index = known[key] {
        groups[index].captures.append(capture)
      } else {
        known[key] = groups.count
        groups.append(
          AttentionGroup(reason: reason, failure: failure, isGone: isGone, captures: [capture]))
      }
    }
    return groups
  }

  /// The message without what differs between captures with the same failure: names, numbers
  /// (records, byte offsets), and lines after the first.
  static func general(_ message: String, _ capture: CaptureRow) -> String {
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

  /// The state in which the card is drawn.
  var tone: String {
    let state = captures.first?.state ?? .failed
    return state == .done || state.color == .waiting
      ? CaptureState.Color.warning.rawValue : state.rawValue
  }

  /// A few words: `files cannot be read`.
  var title: String {
    switch reason.code {
    case .incomplete, .missingFiles:
      let lacks = Set(captures.map { OutcomeWords.lacks($0.missing) })
      return lacks.count == 1 ? lacks.first ?? "" : "files are missing"
    case .shortfall:
      let streams = Set(captures.flatMap { $0.shortfalls.map(\.stream) })
      return streams.count == 1 ? losses : "parts are lost"
    case .stale: return "not up to date"
    case .stalledUpload: return "the upload does not go on"
    case .alteredFiles: return "files are not as on the device"
    case .failed, .quarantined:
      if isGone { return "the folder has disappeared" }
      switch (failure?.cause, failure?.detail?.code) {
      case (_, .unsuitable): return "a parameter does not fit"
      case (_, .unlikeTheApp): return "files are not as the app writes them"
      case (_, .strict): return "warnings count as failures"
      case (.input, _): return "files cannot be read"
      case (.permission, _): return "files may not be read"
      case (.machine, _): return "the machine had a problem"
      case (.program, _), (nil, _):
        let stages = Set(captures.map { $0.failures.first?.stage })
        guard stages.count == 1, let stage = stages.first.flatMap(\.self) else {
          return failure?.cause == nil ? "could not be processed" : "a stage failed"
        }
        return "stage \(stage) failed"
      }
    }
  }

  /// How much the captures have lost of one stream: `imu: 3 % lost`, `imu: 3 to 58 % lost`.
  private var losses: String {
    let all = captures.flatMap { $0.shortfalls }
    guard let least = all.min(by: { $0.lostPercent < $1.lostPercent })?.lossWords,
      let most = all.max(by: { $0.lostPercent < $1.lostPercent })
    else { return "parts are lost" }
    if least == most.lossWords { return least }
    return "\(least.prefix { $0 != "%" })to \(most.lossWords.dropFirst(most.stream.count + 2))"
  }

  /// The meaning, from the code reference.
  var meaning: String {
    switch reason.code {
    case .incomplete:
      "Nothing has changed for a while, and files that every capture of this kind has are missing."
    case .missingFiles:
      "Files that every capture of this kind has are missing. Results that need them do not exist."
    case .stalledUpload, .alteredFiles, .shortfall, .stale:
      CodeReference[reason.code.rawValue]?.meaning ?? ""
    case .failed, .quarantined:
      isGone
        ? "Its folder disappeared from STAGING before everything was done. What was published is kept."
        : failure?.code.flatMap { CodeReference[$0]?.meaning } ?? ""
    }
  }

  var remedy: String { reason.remedy ?? "" }
}
