import FoundationEssentials

/// The submissions of a run, as its log records them.
public struct SubmissionHistory: Hashable, Sendable {
  public enum State: Hashable, Sendable {
    /// The array was about to be submitted. The batch system can be asked by name whether it was.
    case intended
    case submitted(job: String)
    /// The array was refused or abandoned, with the reason.
    case gone(String)
  }

  public struct Entry: Hashable, Sendable {
    var submission: Submission
    public var state: State

    var job: String? {
      if case .submitted(let job) = state { job } else { nil }
    }
  }

  /// Sorted by number.
  public private(set) var entries: [Entry] = []
  /// Jobs whose intent line is missing or unreadable. Only a damaged log has any.
  private(set) var unclaimedJobs: [String] = []
  /// Number of lines that cannot be decoded, including a cut last line.
  private(set) var unreadableLines = 0

  /// The number of the next submission.
  var nextNumber: Int { next }
  private var next = 1

  /// Reads a log, which may be cut anywhere. Cost: linear, plus sorting.
  init(_ bytes: [UInt8]) {
    var places: [Int: Int] = [:]
    for piece in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let line = Self.line(piece) else {
        unreadableLines += 1
        continue
      }
      next = max(next, line.submission &+ 1)
      if let intent = line.intent {
        let entry = Entry(submission: intent, state: .intended)
        if let place = places[line.submission] {
          entries[place] = entry
        } else {
          places[line.submission] = entries.count
          entries.append(entry)
        }
      }
      guard let state = Self.state(line) else { continue }
      if let place = places[line.submission] {
        entries[place].state = state
      } else if case .submitted(let job) = state {
        unclaimedJobs.append(job)
      }
    }
    entries.sort { $0.submission.number < $1.submission.number }
  }

  /// `nil` for an invalid line. A cut line lacks its closing brace and is not valid JSON.
  private static func line(_ bytes: ArraySlice<UInt8>) -> SubmissionLine? {
    let line = try? JSONDecoder().decode(SubmissionLine.self, from: Data(bytes))
    guard let line, line.submission >= 0 else { return nil }
    return line.intent == nil && state(line) == nil ? nil : line
  }

  private static func state(_ line: SubmissionLine) -> State? {
    if let why = line.gone { return .gone(why) }
    return line.job.map { .submitted(job: $0) }
  }
}
