import SystemPackage

/// A batch system: takes arrays of elements and tells what became of them.
///
/// Every call asks it at most once and comes back within a time-out of its own; none throws.
public protocol BatchSystem: Sendable {
  /// What the site allows. Asked once per run.
  func site() -> SiteAnswer
  /// Hands over one array.
  func submit(_ submission: Submission) -> SubmissionAnswer
  /// Ids of jobs with this name, whether they wait, run or have ended, so far as it still knows them.
  func jobs(named name: String) -> JobsAnswer
  /// How the elements of some arrays stand.
  func tasks(of jobs: [String]) -> TasksAnswer
  /// Why elements of some arrays wait, by array; for people.
  func waitingReasons(of jobs: [String]) -> TasksAnswer
  /// Asks for the end of whole arrays. Its answer proves nothing: `tasks` does.
  func cancel(_ jobs: [String], _ how: JobCancellation)
  /// The command that would submit it, as text for people; runs nothing.
  func preview(_ submission: Submission) -> String
  /// Changes how many elements of an array may run at a time.
  func throttle(_ job: String, to elements: Int)
}

/// How arrays are cancelled.
public enum JobCancellation: Sendable {
  /// What waits never starts; what runs goes on.
  case waiting
  /// What waits never starts; what runs is told to end in order.
  case orderly
  /// What runs is killed.
  case kill
}

/// What a site allows.
public struct Site: Hashable, Sendable {
  /// Elements that one array may have at most; the largest index is one less.
  public var maxArraySize: Int
  /// Between the signal to end and the kill.
  public var killWaitSeconds: Int
  /// Whether it keeps records of what has ended.
  public var hasAccounting: Bool

  public init(maxArraySize: Int = 1001, killWaitSeconds: Int = 30, hasAccounting: Bool = false) {
    self.maxArraySize = maxArraySize
    self.killWaitSeconds = killWaitSeconds
    self.hasAccounting = hasAccounting
  }
}

public enum SiteAnswer: Hashable, Sendable {
  case site(Site)
  /// It does not answer now; its own words.
  case silent(String)
  /// Its commands are not there, or say what cannot be understood.
  case unusable(String)
}

/// One array of elements, or one single job that follows others.
public struct Submission: Hashable, Sendable, Codable {
  /// From 1; unique in the run.
  public var number: Int
  /// `scanmill-RUN-NUMBER`.
  public var name: String
  /// For people who look at the queue.
  public var comment: String
  /// The number of the element with index 0.
  public var firstElement: Int
  /// How many elements; indices are 0..<count. 0: a single job without an array.
  public var count: Int
  /// Elements that may run at a time; `nil`: no limit.
  public var throttle: Int?
  public var request: JobRequest
  /// Nodes that are to be avoided.
  public var excludedNodes: [String] = []
  /// Runs once these jobs have ended in any way.
  public var after: [String] = []
  /// The run's folder, absolute.
  public var runFolder: FilePath
  public var output: FilePath
  /// The program and the words after it, without those of the executor (`element RUNFOLDER OFFSET`).
  public var program: FilePath
  public var arguments: [String]

  public init(
    number: Int, name: String, comment: String, firstElement: Int, count: Int, throttle: Int?,
    request: JobRequest, runFolder: FilePath, output: FilePath, program: FilePath,
    arguments: [String]
  ) {
    self.number = number
    self.name = name
    self.comment = comment
    self.firstElement = firstElement
    self.count = count
    self.throttle = throttle
    self.request = request
    self.runFolder = runFolder
    self.output = output
    self.program = program
    self.arguments = arguments
  }
}

/// What an element asks of a node.
public struct JobRequest: Hashable, Sendable, Codable {
  public var cores: Int
  /// A multiple of 1 MiB, which is what the batch system counts in.
  public var memoryBytes: Int64
  public var timeSeconds: Int

  public init(cores: Int, memoryBytes: Int64, timeSeconds: Int) {
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.timeSeconds = timeSeconds
  }
}

public enum SubmissionAnswer: Hashable, Sendable {
  case accepted(job: String)
  /// A limit that passes: fewer at a time, or later. Its own words.
  case full(String)
  /// Does not answer, or not in time: it may have taken the array all the same.
  case silent(String)
  /// A request that it will never take: wrong partition, account, size. Its own words.
  case refused(String)
}

public enum JobsAnswer: Hashable, Sendable {
  case jobs([String])
  case silent(String)
}

/// One element in the words of the batch system.
public struct TaskID: Hashable, Sendable, Codable {
  public var job: String
  /// Within its array; `nil` for a job without one.
  public var index: Int?

  public init(job: String, index: Int?) {
    self.job = job
    self.index = index
  }

  /// `123_45`.
  public var text: String { index.map { "\(job)_\($0)" } ?? job }
}

/// How one element stands, as the batch system says.
public struct TaskView: Hashable, Sendable, Codable {
  public enum State: Hashable, Sendable, Codable {
    case pending, running
    /// Ended by itself with code 0.
    case completed
    case failed, outOfMemory, timeout
    /// Of the node, of its start, by something more important, by an administrator: `lost` says which.
    case lost(String)
    case cancelled
    case deadline
    /// A word that we do not know.
    case unknown(String)
  }

  public var state: State
  /// Of a program that ended.
  public var exitCode: Int?
  /// The signal that ended it, or a number of the batch system's own.
  public var signal: Int?
  public var node: String?
  /// Why it waits, why it failed, in its own word.
  public var reason: String?
  /// Of a user who cancelled it.
  public var cancelledBy: String?

  public init(
    _ state: State, exitCode: Int? = nil, signal: Int? = nil, node: String? = nil,
    reason: String? = nil, cancelledBy: String? = nil
  ) {
    self.state = state
    self.exitCode = exitCode
    self.signal = signal
    self.node = node
    self.reason = reason
    self.cancelledBy = cancelledBy
  }
}

/// What the batch system knows of some arrays.
///
/// `folded` holds what it says of many at once, without listing them: an index that is in neither is not
/// known to it (any more, or not yet).
public struct TaskTable: Hashable, Sendable {
  public var tasks: [TaskID: TaskView] = [:]
  public var folded: [FoldedTasks] = []
  /// Whether an element that is missing here has left the queue (its memory of what has ended is short),
  /// rather than being unknown for a while (records that lag).
  public var isQueue: Bool

  public init(isQueue: Bool) { self.isQueue = isQueue }

  public subscript(task: TaskID) -> TaskView? {
    if let view = tasks[task] { return view }
    guard let index = task.index else { return nil }
    // An array that was cancelled before anything of it ran is named without its indices.
    return folded.first { $0.job == task.job && $0.indices.contains(index) }?.view
      ?? tasks[TaskID(job: task.job, index: nil)]
  }
}

/// Some elements of one array that stand alike.
public struct FoldedTasks: Hashable, Sendable {
  public var job: String
  public var indices: IndexSetText
  public var view: TaskView

  public init(job: String, indices: IndexSetText, view: TaskView) {
    self.job = job
    self.indices = indices
    self.view = view
  }
}

/// Indices as `0-3,7,9-12`, never listed one by one.
public struct IndexSetText: Hashable, Sendable {
  /// Sorted, apart from each other.
  public var ranges: [ClosedRange<Int>]

  public init(_ ranges: [ClosedRange<Int>]) {
    self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }
  }

  public func contains(_ index: Int) -> Bool { ranges.contains { $0.contains(index) } }
  public var count: Int { ranges.reduce(0) { $0 + $1.count } }
}

public enum TasksAnswer: Hashable, Sendable {
  case table(TaskTable)
  /// No answer, or none that can be understood; its own words.
  case silent(String)
}
