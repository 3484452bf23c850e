import Captures

/// An event as a line of a job's log: time, kind, then `key=value`; a view of the same events as
/// `events.jsonl`.
enum LogLine {
  static func text(_ event: RunEvent) -> String {
    var parts = [event.time, event.kind.rawValue]
    func add(_ key: String, _ value: String?) {
      if let value { parts.append("\(key)=\(quoted(value))") }
    }
    add("uses", event.uses)
    add("outcome", event.outcome?.rawValue)
    add("reason", event.reason?.rawValue)
    add("cause", event.cause?.rawValue)
    add("seconds", event.seconds.map { "\($0)" })
    add("frames", event.frames.map { "\($0)" })
    add("totalFrames", event.totalFrames.map { "\($0)" })
    add("message", event.message)
    for warning in event.warnings ?? [] {
      add(
        "\(warning.severity.rawValue).\(warning.code.rawValue).\(warning.subject)",
        "\(warning.count)")
    }
    return parts.joined(separator: " ")
  }

  private static func quoted(_ text: String) -> String {
    guard text.isEmpty || text.contains(where: { " \"=\n".contains($0) }) else { return text }
    return "\"" + text.map { $0 == "\"" ? "\\\"" : $0 == "\n" ? "\\n" : String($0) }.joined() + "\""
  }
}
