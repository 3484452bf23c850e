import Core
import SystemPackage

/// How arrays are cancelled.
enum JobCancellation: Sendable {
  /// Pending tasks never start; running ones continue.
  case waiting
  /// Pending tasks never start; running ones get a termination signal.
  case orderly
  /// Running tasks are killed.
  case kill
}

/// The limits of a site.
struct Site: Hashable, Sendable {
  /// Maximum number of tasks per array; the largest index is one less.
  var maxArraySize: Int = 1001
  /// Time between the termination signal and the kill.
  var killWaitSeconds: Int = 30
  /// Whether the site keeps records of ended jobs.
  var hasAccounting: Bool = false
}

enum SiteAnswer: Hashable, Sendable {
  case site(Site)
  /// The system does not answer now; the value is its message.
  case silent(String)
  /// The system's commands are missing, or their output cannot be parsed.
  case unusable(String)
}

/// One array of tasks, or a single job that runs after others. Coded with paths as text, for `submissions.jsonl` and
/// plans, which people read too.
struct Submission: Hashable, Sendable, Codable {
  /// From 1; unique in the run.
  var number: Int
  /// `scanmill-RUN-NUMBER`.
  var name: String
  /// A text for people who look at the queue.
  var comment: String
  /// The number of the task with index 0.
  var firstElement: Int
  /// Number of tasks, with indices 0..<count. 0 for a single job without an array.
  var count: Int
  /// How many tasks may run at a time; `nil` for no limit.
  var throttle: Int?
  var request: JobRequest
  /// Nodes to be avoided.
  var excludedNodes: [String] = []
  /// The job starts after all of these jobs have ended, whatever their results.
  var after: [String] = []
  /// The run's folder; absolute.
  @CodedPath var runFolder: FilePath
  @CodedPath var output: FilePath
  /// The program and its arguments, without those that the executor adds (`element RUNFOLDER
  /// OFFSET`).
  @CodedPath var program: FilePath
  var arguments: [String]
}

/// The resources that an array task requests.
struct JobRequest: Hashable, Sendable, Codable {
  var cores: Int
  /// Rounded up to the batch system's unit when it is submitted.
  var memoryBytes: Int64
  var timeSeconds: Int
}

enum SubmissionAnswer: Hashable, Sendable {
  case accepted(job: String)
  /// A limit that can pass: submit fewer tasks or later. The value is the message.
  case full(String)
  /// No answer in time. The array may have been accepted nevertheless.
  case silent(String)
  /// A request that will never be accepted, such as a wrong partition, account or size. The value
  /// is the message.
  case refused(String)
}

/// What the batch system says when it is asked.
enum SchedulerAnswer<Value: Hashable & Sendable>: Hashable, Sendable {
  case known(Value)
  /// No answer, or one that cannot be parsed; the value is the message.
  case silent(String)
}

/// The batch system's identifier of one array task.
struct TaskID: Hashable, Sendable, Codable {
  var job: String
  /// Index in its array; `nil` for a job without one.
  var index: Int?

  /// `123_45`.
  var text: String { index.map { "\(job)_\($0)" } ?? job }
}

/// The state of one array task according to the batch system.
public struct TaskView: Hashable, Sendable, Codable {
  public enum State: Hashable, Sendable, Codable {
    case pending, running
    /// Ended by itself with code 0.
    case completed
    case failed, outOfMemory, timeout
    /// Ended or requeued for a reason unrelated to the program, such as a node failure, a failed
    /// start, a preemption or an administrator. The value is the batch system's name of the state.
    case lost(String)
    case cancelled
    case deadline
    /// A name that is not known here.
    case unknown(String)
  }

  public var state: State
  /// Exit code of an ended program.
  var exitCode: Int?
  /// The signal that ended the program, or a number of the batch system's own.
  var signal: Int?
  var node: String?
  /// The batch system's reason for waiting or for the failure.
  var reason: String?
  /// The user who cancelled it.
  var cancelledBy: String?
}

/// The batch system's states of tasks of some arrays.
///
/// `folded` has states of many tasks at once. A task in neither collection is no longer known, or
/// not yet.
struct TaskTable: Hashable, Sendable {
  var tasks: [TaskID: TaskView] = [:]
  var folded: [FoldedTasks] = []
  /// Whether a missing task has left the queue, which forgets ended tasks soon. Otherwise the table
  /// comes from records, which may lag.
  var isQueue: Bool

  subscript(task: TaskID) -> TaskView? {
    if let view = tasks[task] { return view }
    guard let index = task.index else { return nil }
    // An array that was cancelled before any task ran is listed without indices.
    return folded.first { $0.job == task.job && $0.indices.contains(index) }?.view
      ?? tasks[TaskID(job: task.job, index: nil)]
  }
}

/// Several tasks of one array with the same state.
struct FoldedTasks: Hashable, Sendable {
  var job: String
  var indices: RangeSet<Int>
  var view: TaskView
}
