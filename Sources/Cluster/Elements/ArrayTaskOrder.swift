import Captures
import Core
import Engine
import SystemPackage

/// The complete instructions of an array task. The file is written before the task is submitted and
/// never changes. A retry is a new array task with its own order.
struct ArrayTaskOrder: Sendable, Codable {
  var schema = 1
  var run: String
  /// From 0, across all arrays of the run.
  var number: Int
  /// Content of the file `nonce` in the run's folder. A task that reads another value sees a
  /// different folder under the same path.
  var nonce: String
  var program: ProgramIdentity
  /// Digest of the executable.
  var programDigest: Digest
  var pipeline: PipelineSource
  var options: RunOptions
  /// The folder to which relative paths in the pipeline's settings refer.
  @CodedPath var workingFolder: FilePath
  var graceSeconds: Double
  /// Time between the termination signal and the kill.
  var killWaitSeconds: Double
  var request: JobRequest
  var captures: [ArrayTaskCapture]
  /// Whether the task tests if locks are shared between its node and the supervisor's.
  var probesLocks = false
  /// Whether files of stages with `keep: false` are on the node's own disk.
  var usesScratch = false
  /// Whether the profile has setup lines, which run before the program and use part of its time.
  var hasSetup = false
}

/// One capture of an array task.
struct ArrayTaskCapture: Sendable, Codable {
  var target: CaptureTarget
  var history: CaptureHistory

  var name: String { target.layout.name }
}

/// The attempts at a capture so far in a run.
struct CaptureHistory: Hashable, Codable {
  /// Number of array tasks with this capture, including the current one.
  var attempts = 1
  /// Number of its array tasks that failed by themselves without a result for it.
  var breakdowns = 0
  /// The nodes on which its array tasks were lost.
  var lostOn: [String] = []
  /// Memory that the next array task requests for it.
  var memoryBytes: Int64
  var timeSeconds: Int
  /// Whether it gets an array task of its own from now on.
  var isAlone = false
  /// Stages that already ran in this run and are not forced again.
  var done: Set<String> = []
}

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
  static let closedName = "closed"

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

  /// The runs of an output, finished or not, on a batch system or not.
  static func all(in root: FilePath) throws(FileError) -> [RunFiles] {
    let runs = root.appending(OutputNames.runs)
    return try RunEntry.ids(in: root).filter { RunID($0) != nil }
      .map { RunFiles(run: runs.appending($0)) }
  }

  var id: String { run.name ?? "" }

  /// Whether a run on a batch system has begun and is not closed.
  var isUnfinished: Bool { FileSystem.exists(submissions) && !isClosed }

  var isClosed: Bool { FileSystem.exists(folder.appending(Self.closedName)) }

  /// Marks the run as closed, so that it is no longer considered. Removes orders and plan if they
  /// contain secrets.
  func close() {
    guard let held = try? HeldFolder.following(folder) else { return }
    let isSecret = plan?.holdsSecrets ?? false
    try? held.replace(Self.closedName, with: [], durably: false)
    guard isSecret else { return }
    for name in [Self.ordersName, Self.planName] { try? held.remove(name) }
  }

  /// `nil` if it cannot be read.
  var plan: ClusterPlan? {
    guard let bytes = try? HeldFolder.following(folder).contents(of: Self.planName) else {
      return nil
    }
    return try? ClusterPlan(json: bytes)
  }

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

extension RunFiles {
  /// Writes orders of array tasks. Each file is complete or does not exist.
  func write(_ orders: [ArrayTaskOrder]) throws {
    let folder = try HeldFolder.following(folder).makeFolder(Self.ordersName)
    for order in orders {
      let name = Self.orderName(order.number)
      try folder.makeFolder(name.folder).replace(
        name.file, with: try JSONText.canonical(order), durably: false)
    }
    // The batch system starts the tasks on other machines, which read the orders; a crash of this
    // machine must not lose them.
    try folder.flushFileSystem()
  }

  /// The order of an array task; `nil` if it does not exist or cannot be decoded.
  func order(_ number: Int) throws(FileError) -> ArrayTaskOrder? {
    let name = Self.orderName(number)
    guard
      let bytes = try HeldFolder.following(folder).folder(Self.ordersName)?
        .folder(name.folder)?.contents(of: name.file)
    else { return nil }
    return try? ArrayTaskOrder(json: bytes)
  }

  /// Numbers of the existing orders, ascending. Throws where they cannot be listed: what is not known of is
  /// submitted again, under numbers that are taken.
  var orderNumbers: [Int] {
    get throws(FileError) {
      guard let folder = try HeldFolder.following(folder).folder(Self.ordersName) else {
        return []
      }
      var found: [Int] = []
      for name in try folder.names() {
        for file in try folder.folder(name)?.names() ?? [] where file.hasSuffix(".json") {
          if let number = Int(file.dropLast(5)) { found.append(number) }
        }
      }
      return found.sorted()
    }
  }
}

extension TaskID {
  /// The name that Slurm's pattern `%A_%a.log` gives, or `%j.log` for a job without an array.
  var logName: String { text + ".log" }
}
