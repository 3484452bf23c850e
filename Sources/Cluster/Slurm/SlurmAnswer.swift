/// The result of running one program of Slurm.
struct SlurmAnswer: Hashable, Sendable {
  enum End: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// The command exceeded the time-out and was killed.
    case timedOut(seconds: Double)
    /// The program is not in `PATH`.
    case absent
    /// The system could not start it; the value is the reason.
    case notStarted(String)
    /// The command was not run because the controller does not answer; the value is the controller's state.
    case notAsked(String)
    /// The command's output exceeded the limit and it was killed.
    case tooMuch
  }

  var program: String
  var end: End
  var output = ""
  var errors = ""
  var seconds = 0.0

  var isSuccess: Bool { end == .exited(0) }

  /// The result in one line: for an exit code, the error output without the name of the program, if
  /// there is any; otherwise how the program ended.
  var words: String {
    let said = errors.split(whereSeparator: \.isNewline).map(bare).filter { !$0.isEmpty }
    let text = said.joined(separator: "; ")
    switch end {
    case .exited(let code):
      return text.isEmpty ? "\(program) ended with exit code \(code)" : String(text.prefix(400))
    case .killed(let signal): return "\(program) was ended by signal \(signal)"
    case .timedOut(let seconds): return "\(program) did not end within \(Int(seconds)) s"
    case .absent: return "\(program) is not in PATH: run this where the commands of Slurm are"
    case .notStarted(let why): return "\(program) could not be started: \(why)"
    case .notAsked(let state): return state
    case .tooMuch: return "\(program) printed far more than expected"
    }
  }

  /// The line without prefixes such as `sbatch: error: `.
  private func bare(_ line: Substring) -> Substring {
    var rest = line
    for prefix in ["\(program): ", "error: ", "fatal: "] where rest.hasPrefix(prefix) {
      rest = rest.dropFirst(prefix.count)
    }
    return rest
  }
}
