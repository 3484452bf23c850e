import Pipeline
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// `slurm/submissions.jsonl` of a run: what was about to be submitted, and what became of it.
///
/// A line is on the disk when a call returns: the intent before the batch system is asked. One process
/// writes at a time (the supervisor's lock). From one thread.
public final class SubmissionLog {
  public static let fileName = "submissions.jsonl"

  private let folder: HeldFolder
  private let file: FileDescriptor
  /// Whether the last line has an end: a writer may have died in the middle of it.
  private var isWhole: Bool

  /// Opens the log in a run's folder `slurm/`, or makes it.
  public init(in folder: HeldFolder) throws(FileError) {
    let bytes = try folder.contents(of: Self.fileName)
    self.folder = folder
    isWhole = bytes?.last.map { $0 == UInt8(ascii: "\n") } ?? true
    file = try folder.append(to: Self.fileName)
    if bytes == nil { try folder.flush() }
  }

  deinit {
    try? file.close()
  }

  /// Before it is handed over.
  public func intend(_ submission: Submission) throws(FileError) {
    try append(SubmissionLine(submission: submission.number, intent: submission))
  }

  /// It has been taken, or was found by its name.
  public func accepted(_ submission: Int, job: String) throws(FileError) {
    try append(SubmissionLine(submission: submission, job: job))
  }

  /// It has been refused or given up: there is no such array, and there will be none.
  public func gone(_ submission: Int, why: String) throws(FileError) {
    try append(SubmissionLine(submission: submission, gone: why))
  }

  private func append(_ line: SubmissionLine) throws(FileError) {
    let path = folder.path.appending(Self.fileName)
    do {
      let bytes = try JSONText.canonical(line) + [UInt8(ascii: "\n")]
      if let fault = StorageFaults.fault(.write, path) { throw fault }
      // A line of its own behind what was cut off.
      let start: [UInt8] = isWhole ? [] : [UInt8(ascii: "\n")]
      isWhole = false
      try file.writeAll(start + bytes)
      isWhole = true
      if let fault = StorageFaults.fault(.flush, path) { throw fault }
      guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    } catch {
      throw error as? FileError
        ?? FileError(error as? Errno ?? .ioError, path: path, operation: "write")
    }
  }

  /// What the log in a run's folder `slurm/` says; nothing where there is none.
  public static func read(in folder: HeldFolder) throws(FileError) -> SubmissionHistory {
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
