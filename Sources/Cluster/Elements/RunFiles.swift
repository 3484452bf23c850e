import Engine
import Core
import SystemPackage

/// The paths of a run on a batch system, all in `runs/RUN/slurm/`.
public struct RunFiles: Hashable, Sendable {
  /// `runs/RUN`.
  public let run: FilePath
  public var folder: FilePath { run.appending(OutputNames.cluster) }

  static let nonceName = "nonce"
  static let planName = "plan.json"
  static let submissionsName = "submissions.jsonl"
  static let lockName = "supervisor"
  static let probeName = "probe"
  static let ordersName = "orders"
  static let resultsName = "results"

  init(run: FilePath) {
    self.run = run
    let runs = run.removingLastComponent()
    if runs.lastComponent?.string == OutputNames.runs {
      EnclosedPaths.enclose(runs.removingLastComponent(), links: .none)
    }
  }

  public var results: FilePath { folder.appending(Self.resultsName) }
  var logs: FilePath { folder.appending(OutputNames.logs) }
  var submissions: FilePath { folder.appending(Self.submissionsName) }
  var lock: FilePath { folder.appending(Self.lockName) }

  /// `orders/003/003017.json`: a thousand orders per folder.
  static func orderName(_ number: Int) -> (folder: String, file: String) {
    ((number / 1000).padded(3), number.padded(6) + ".json")
  }

  /// `000017.123_4.jsonl`.
  static func resultsName(_ number: Int, job: String) -> String {
    "\(number.padded(6)).\(job).jsonl"
  }

  /// The number of the array task with this results file; `nil` for other names.
  static func element(ofResults name: String) -> Int? {
    guard name.hasSuffix(".jsonl"), let dot = name.firstIndex(of: ".") else { return nil }
    return Int(name[..<dot])
  }

  /// The log file of an array task.
  func log(_ task: TaskID) -> FilePath { logs.appending(task.logName) }
}

extension TaskID {
  /// The name that Slurm's pattern `%A_%a.log` gives, or `%j.log` for a job without an array.
  var logName: String { text + ".log" }
}
