import Engine

/// Adds to the message about a word too many that names of stages are separated by commas.
enum CommaHint {
  /// The message of the argument parser, with the hint in its first line if that is about a stage or an export format:
  /// `error: Unexpected argument 'tables': tables is a stage; several are separated by commas, without blanks`. Other
  /// messages are unchanged.
  static func completed(_ message: String) -> String {
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = lines.first, first.lowercased().contains("unexpected argument") else {
      return message
    }
    let quoted = first.split(separator: "'", omittingEmptySubsequences: false)
    guard quoted.count > 2, let what = hint(String(quoted[1])) else { return message }
    let line = "\(first): \(what); several are separated by commas, without blanks"
    return ([line] + lines.dropFirst().map(String.init)).joined(separator: "\n")
  }

  private static func hint(_ word: String) -> String? {
    BuiltInStages.hint(word)
      ?? BuiltInStages.hint("export-" + word).map { _ in "\(word) is an export format" }
  }
}
