import Captures
import Logging
import Engine
import Pages
import Core

/// Logs each capture when it begins to need a person, so that warnings and errors of a night read like the list of the
/// page: a failure, a crash or a lack of memory is an error with its cause; what vanished, stalled, is incomplete or has
/// lost much, and a folder that is not recognized, is a warning. The watcher's loop calls it on its own thread.
///
/// Nothing is logged twice until the capture is done, or another attempt counts as failed. A quiet watcher logs no
/// failure that is noted in the output: it is known from another night, or the report of the run tells it.
struct AttentionLog {
  /// One line of the log.
  struct Line: Hashable {
    var level: Logger.Level
    var message: String
    var capture: String
    /// The facts in the metadata besides the capture.
    var facts: [String: String] = [:]
  }

  private static let mostMessageCharacters = 500

  private let log: Logger
  private let isQuiet: Bool
  private var told: [CaptureLocation: Line] = [:]

  init(_ log: Logger, isQuiet: Bool = false) {
    self.log = log
    self.isQuiet = isQuiet
  }

  mutating func update(_ intake: IntakeState) {
    let lines = Self.lines(intake)
    for (location, line) in lines.sorted(by: { $0.value.capture < $1.value.capture })
    where told[location] != line {
      told[location] = line
      if isQuiet, intake.entries[location].map(Self.isNoted) == true { continue }
      var metadata: Logger.Metadata = ["capture": "\(line.capture)"]
      for (name, value) in line.facts { metadata[name] = "\(value)" }
      log.log(level: line.level, "\(line.message)", metadata: metadata)
    }
    // A capture between two attempts, or that is examined again, still needs what it needed.
    told = told.filter { location, _ in
      if lines[location] != nil { return true }
      switch intake.entries[location]?.phase {
      case .moving, .judging, .queued, .running: return true
      default: return false
      }
    }
  }

  private static func isNoted(_ entry: StagingEntry) -> Bool {
    if case .failed(let trouble) = entry.phase { trouble.isNoted } else { false }
  }

  /// What is to be said of the captures that need a person now, and of folders that are not recognized. Pure.
  static func lines(_ intake: IntakeState) -> [CaptureLocation: Line] {
    intake.entries.compactMapValues(line)
  }

  private static func line(_ entry: StagingEntry) -> Line? {
    if case .unrecognized = entry.phase, entry.decision?.isCurrent != true {
      return Line(
        level: .warning, message: "not recognized", capture: entry.name,
        facts: ["path": entry.location.path.text])
    }
    let reasons = entry.reasons
    guard let first = reasons.first else { return nil }
    var line = Line(
      level: .warning, message: "needs you: \(first.code.rawValue.replacing("-", with: " "))",
      capture: entry.name)
    // What a program said last, which stands in further lines, is the reason.
    let text = reasons.map { Failure.line($0.text) }
    line.facts["reason"] = String(text.joined(separator: "; ").prefix(mostMessageCharacters))
    line.facts["path"] = entry.location.path.text
    line.facts["file"] = first.file
    switch entry.phase {
    case .failed(let trouble):
      if trouble.isGone != true { line.level = .error }
      line.facts["cause"] = trouble.cause?.rawValue
      line.facts["stage"] = trouble.stage
      if let attempts = trouble.attempts, attempts > 0 { line.facts["attempts"] = "\(attempts)" }
    case .stalled: line.facts["since"] = entry.since
    default: break
    }
    return line
  }
}
