/// What came of running one program of Slurm.
struct SlurmAnswer: Hashable, Sendable {
  enum End: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// It was ended by us.
    case timedOut(seconds: Double)
    /// There is no such program in `PATH`.
    case absent
    /// The system could not start it; why.
    case notStarted(String)
    /// It was not run, since the controller does not answer; its state in words.
    case notAsked(String)
    /// It said more than is kept and was ended.
    case tooMuch
  }

  var program: String
  var end: End
  var output = ""
  var errors = ""
  var seconds = 0.0

  var isSuccess: Bool { end == .exited(0) }

  /// The program's own words, in one line without its name: what it wrote to standard error, else how it
  /// ended.
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

  /// A line without `sbatch: error: ` and the like.
  private func bare(_ line: Substring) -> Substring {
    var rest = line
    for prefix in ["\(program): ", "error: ", "fatal: "] where rest.hasPrefix(prefix) {
      rest = rest.dropFirst(prefix.count)
    }
    return rest
  }
}
