import Engine
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// `slurm/submissions.jsonl` of a run: the intended submissions and their results.
///
/// Every call returns only after its line is on disk, so an intent is recorded before the batch
/// system is asked. One process writes at a time, protected by the supervisor's lock. Not
/// thread-safe.
public final class SubmissionLog {
  public static let fileName = "submissions.jsonl"

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
  public func accepted(_ submission: Int, job: String) throws(FileError) {
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
      throw error as? FileError
        ?? FileError(error as? Errno ?? .ioError, path: path, operation: "write")
    }
  }

  /// Reads the log in `folder`, the folder `slurm/` of a run; empty if there is none.
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
