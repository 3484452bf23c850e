import Core
import Engine
import SystemPackage
import Glibc

/// `slurm/submissions.jsonl` of a run: the intended submissions and their results.
///
/// Every call returns only after its line is on disk, so an intent is recorded before the batch
/// system is asked. One process writes at a time, protected by the supervisor's lock. Not
/// thread-safe.
final class SubmissionLog {
  static let fileName = "submissions.jsonl"

  private let folder: HeldFolder
  private let file: FileDescriptor
  /// Whether the file ends with a newline. It does not if a writer died in the middle of a line.
  private var isWhole: Bool

  /// Opens or creates the log in `folder`, the folder `slurm/` of a run.
  init(in folder: HeldFolder) throws(FileError) {
    let bytes = try folder.contents(of: Self.fileName)
    self.folder = folder
    isWhole = bytes?.last.map { $0 == UInt8(ascii: "\n") } ?? true
    file = try folder.append(to: Self.fileName)
    if bytes == nil { try folder.flush() }
  }

  deinit {
    try? file.close()
  }

  /// Records an intent. To be called before the batch system is asked.
  func intend(_ submission: Submission) throws(FileError) {
    try append(SubmissionLine(submission: submission.number, intent: submission))
  }

  /// Records that the batch system took the submission, or that it was found by name.
  func accepted(_ submission: Int, job: String) throws(FileError) {
    try append(SubmissionLine(submission: submission, job: job))
  }

  /// Records that the submission was refused or abandoned: no such array exists or will exist.
  func gone(_ submission: Int, why: String) throws(FileError) {
    try append(SubmissionLine(submission: submission, gone: why))
  }

  private func append(_ line: SubmissionLine) throws(FileError) {
    let path = folder.path.appending(Self.fileName)
    do {
      let bytes = try JSONText.canonical(line) + [UInt8(ascii: "\n")]
      if let fault = StorageFaults.fault(.write, path) { throw fault }
      // A cut line is ended first.
      let start: [UInt8] = isWhole ? [] : [UInt8(ascii: "\n")]
      isWhole = false
      try file.writeAll(start + bytes)
      isWhole = true
      if let fault = StorageFaults.fault(.flush, path) { throw fault }
      guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
  }

  /// Reads the log in `folder`, the folder `slurm/` of a run; empty if there is none.
  static func read(in folder: HeldFolder) throws(FileError) -> SubmissionHistory {
    SubmissionHistory(try folder.contents(of: fileName) ?? [])
  }
}

/// One line of the log.
struct SubmissionLine: Codable {
  var submission: Int
  var intent: Submission?
  var job: String?
  var gone: String?
}

/// The submissions of a run, as its log records them.
struct SubmissionHistory: Hashable, Sendable {
  enum State: Hashable, Sendable {
    /// The array was about to be submitted. The batch system can be asked by name whether it was.
    case intended
    case submitted(job: String)
    /// The array was refused or abandoned, with the reason.
    case gone(String)
  }

  struct Entry: Hashable, Sendable {
    var submission: Submission
    var state: State

    var job: String? {
      if case .submitted(let job) = state { job } else { nil }
    }
  }

  /// Sorted by number.
  private(set) var entries: [Entry] = []

  /// The submitted array tasks, by number.
  ///
  /// - Parameter job: the array of a submission; `nil`: it has none.
  func tasks(_ job: (Entry) -> String?) -> [Int: TaskID] {
    var tasks: [Int: TaskID] = [:]
    for entry in entries {
      guard let job = job(entry) else { continue }
      for index in 0..<max(0, entry.submission.count) {
        tasks[entry.submission.firstElement + index] = TaskID(job: job, index: index)
      }
    }
    return tasks
  }

  /// The number of the next submission.
  private(set) var nextNumber = 1

  /// Reads a log, which may be cut anywhere. Cost: linear, plus sorting.
  init(_ bytes: [UInt8]) {
    var places: [Int: Int] = [:]
    // Lines that cannot be decoded are ignored, and states without an intent.
    for line in bytes.split(separator: UInt8(ascii: "\n")).compactMap(Self.line) {
      nextNumber = max(nextNumber, line.submission &+ 1)
      if let intent = line.intent {
        let entry = Entry(submission: intent, state: .intended)
        if let place = places[line.submission] {
          entries[place] = entry
        } else {
          places[line.submission] = entries.count
          entries.append(entry)
        }
      }
      if let state = Self.state(line), let place = places[line.submission] {
        entries[place].state = state
      }
    }
    entries.sort { $0.submission.number < $1.submission.number }
  }

  /// `nil` for an invalid line. A cut line lacks its closing brace and is not valid JSON.
  private static func line(_ bytes: ArraySlice<UInt8>) -> SubmissionLine? {
    let line = try? SubmissionLine(json: bytes)
    guard let line, line.submission >= 0 else { return nil }
    return line.intent == nil && state(line) == nil ? nil : line
  }

  private static func state(_ line: SubmissionLine) -> State? {
    if let why = line.gone { return .gone(why) }
    return line.job.map { .submitted(job: $0) }
  }
}
