/// Parses the output of `squeue`.
enum QueueText {
  /// Task, state, reason, node.
  static let format = "%i|%T|%r|%N"

  /// `nil` if there are lines but none can be parsed.
  static func table(_ text: String) -> TaskTable? {
    var table = TaskTable(isQueue: true)
    var hasLines = false
    var isReadable = false
    for line in text.split(whereSeparator: \.isNewline) {
      hasLines = true
      guard let (key, view) = row(line) else { continue }
      isReadable = true
      table.add(key, view)
    }
    return hasLines && !isReadable ? nil : table
  }

  static func row(_ line: Substring) -> (TaskKey, TaskView)? {
    let fields = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
    guard fields.count >= 2, let key = TaskKey(fields[0].trimmed),
      let (state, by) = StateText.state(fields[1])
    else { return nil }
    var view = TaskView(state, cancelledBy: by)
    if fields.count > 2 { view.reason = meaning(fields[2]) }
    if fields.count > 3 { view.node = meaning(fields[3]) }
    return (key, view)
  }

  /// Whether the answer says that none of the requested jobs is known.
  static func isGone(_ answer: SlurmAnswer) -> Bool {
    !answer.isSuccess && answer.errors.contains("Invalid job id specified")
  }

  /// The field's text; `nil` for placeholders that mean "none".
  static func meaning(_ field: Substring) -> String? {
    let text = field.trimmed
    return ["", "None", "none", "(null)", "None assigned", "N/A", "Unknown"].contains(text)
      ? nil : String(text)
  }
}

extension Substring {
  /// Without whitespace at both ends.
  var trimmed: Substring {
    var text = self.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
