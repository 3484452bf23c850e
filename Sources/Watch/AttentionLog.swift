import Captures
import Logging
import Engine
import Pages
import Core

/// Logs each capture when it begins to need a person, so that warnings and errors of a night read like the list of the
/// page: a failure, a crash or a lack of memory is an error with its cause; what vanished, stalled, is incomplete or has
/// lost much, and a folder that is not recognized, is a warning. The watcher's loop calls it on its own thread.
///
/// Nothing is logged twice until the capture is done, or another attempt counts as failed.
struct AttentionLog {
  /// One line of the log.
  struct Line: Hashable {
    var level: Logger.Level
    var message: String
    var capture: String
    /// In the metadata, besides the capture.
    var facts: [String: String] = [:]
  }

  private static let mostMessageCharacters = 500

  private let log: Logger
  private var told: [CaptureLocation: Line] = [:]

  init(_ log: Logger) { self.log = log }

  mutating func update(_ intake: IntakeState) {
    let lines = Self.lines(intake)
    for (location, line) in lines.sorted(by: { $0.value.capture < $1.value.capture })
    where told[location] != line {
      told[location] = line
      var metadata: Logger.Metadata = ["capture": "\(line.capture)"]
      for (name, value) in line.facts { metadata[name] = "\(value)" }
      log.log(level: line.level, "\(line.message)", metadata: metadata)
    }
    // One that waits for its next attempt, or is looked at again, still needs what it needed.
    told = told.filter { location, _ in
      if lines[location] != nil { return true }
      switch intake.entries[location]?.phase {
      case .moving, .judging, .queued, .running: return true
      default: return false
      }
    }
  }

  /// What is to be said of the captures that need a person now. Pure.
  static func lines(_ intake: IntakeState) -> [CaptureLocation: Line] {
    var lines: [CaptureLocation: Line] = [:]
    for (location, entry) in intake.entries where entry.decision?.isCurrent != true {
      lines[location] = line(entry)
    }
    return lines
  }

  private static func line(_ entry: StagingEntry) -> Line? {
    let name = entry.name
    switch entry.phase {
    case .failed(let trouble), .quarantined(let trouble):
      var line = Line(
        level: trouble.isGone ? .warning : .error,
        message: trouble.isGone
          ? "disappeared" : trouble.isQuarantined ? "quarantined" : "failed", capture: name)
      line.facts["cause"] = trouble.cause.rawValue
      // What a program said last, which stands in further lines, is the reason.
      let message = trouble.message.split(whereSeparator: \.isNewline).joined(separator: " ")
      line.facts["message"] = String(message.prefix(mostMessageCharacters))
      line.facts["stage"] = trouble.failure.stage
      if trouble.attempts > 0 { line.facts["attempts"] = "\(trouble.attempts)" }
      return line
    case .incomplete(let missing):
      return Line(
        level: .warning, message: "incomplete", capture: name,
        facts: ["missing": missing.joined(separator: " "), "folder": entry.location.path.text])
    case .done where entry.isShort:
      return Line(level: .warning, message: "part of a stream is lost", capture: name)
    case .done where !entry.missing.isEmpty:
      return Line(
        level: .warning, message: "processed without files", capture: name,
        facts: [
          "missing": entry.missing.joined(separator: " "), "folder": entry.location.path.text,
        ])
    case .stalled:
      var line = Line(
        level: .warning, message: "stalled", capture: name,
        facts: ["path": entry.location.path.text, "since": entry.since])
      line.facts["file"] = entry.upload.temporaryFile
      return line
    case .unrecognized:
      return Line(
        level: .warning, message: "not recognized", capture: name,
        facts: ["path": entry.location.path.text])
    case .moving, .judging, .queued, .running, .done: return nil
    }
  }
}
