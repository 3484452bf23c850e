import CPlatform
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A copy of this program that waits, prepared, and forks itself for each program to start: what is started
/// has loaded its libraries and has done what everyone does first.
///
/// What it starts are children of this process, with the same group, limits, signals, descriptors and death as
/// those that `ChildProcess` executes. Anything that it cannot do, it is not asked to do, and whoever asks
/// does without: it may be killed at any time.
public final class PreparedProcess: Sendable {
  private let connection: FileDescriptor
  private let id: pid_t
  /// Once it has not done what it was asked, it is not asked again.
  private let isGone = Atomic<Bool>(false)

  /// How long it may take to prepare itself and to fork, seconds; then it counts as gone.
  private static let patienceSeconds: Int32 = 20

  /// Forks it off. `nil` where that cannot be done, or must not because this process has several threads or
  /// the runtime was told to look after crashes itself.
  ///
  /// Call it before any thread is started, from the thread that the process ends with. Cost: a
  /// `fork`.
  ///
  /// - Parameters:
  ///   - prepare: called once in the prepared process, when it is told to get ready or first has something
  ///     to start. Must not start threads: with several threads it starts nothing.
  ///   - body: called in each process that it starts, with its arguments; the process ends when it returns.
  public init?(prepare: () -> Void, body: ([String]) -> Void) {
    guard getenv("SWIFT_BACKTRACE") == nil else { return nil }
    var connection: Int32 = -1
    var id = pid_t()
    switch scanmill_prepare(&connection, &id) {
    case 0:
      self.connection = FileDescriptor(rawValue: connection)
      self.id = id
    case 1:
      Self.serve(connection, prepare, body)
    default: return nil
    }
  }

  /// Tells it that something will be started soon. Never waits.
  public func getReady() { scanmill_warm(connection.rawValue) }

  /// Starts what `order` says, except that not its program is executed but this one goes on: `nil` when the
  /// prepared process cannot do that or is gone. Throws as `ChildProcess` does. From any thread; the kernel
  /// ends what `diesWithStarter` with the thread that made the prepared process.
  public func start(_ order: ProcessOrder) throws(FileError) -> ChildProcess? {
    guard !isGone.load(ordering: .relaxed), order.workingFolder == nil, !order.isGuarded,
      case .descriptor(let input) = order.input, case .descriptor(let output) = order.output,
      case .descriptor(let error) = order.error, let variables = Self.differences(order.environment)
    else { return nil }
    var program = scanmill_program()
    program.input = input.rawValue
    program.output = output.rawValue
    program.error = error.rawValue
    program.own_group = order.hasOwnGroup ? 1 : 0
    program.death_signal = order.diesWithStarter ? SIGKILL : 0
    program.data_limit = UInt64(max(order.dataLimitBytes ?? 0, 0))
    var text: [CChar] = []
    for word in order.arguments + variables {
      PathText.withCString(word) { text += UnsafeBufferPointer(start: $0, count: strlen($0) + 1) }
    }
    var id = pid_t()
    let code = scanmill_start_prepared(
      connection.rawValue, &program, text, text.count, order.arguments.count, Self.patienceSeconds,
      &id)
    if code < 0 {
      isGone.store(true, ordering: .relaxed)
      return nil
    }
    guard code == 0 else {
      throw FileError(
        Errno(rawValue: code), path: FilePath(text: order.program), operation: "start")
    }
    return ChildProcess(started: id)
  }

  /// Ends it. What it has started goes on.
  public func end() {
    try? connection.close()
    kill(id, SIGKILL)
    var end = scanmill_end()
    _ = scanmill_wait(id, &end)
  }

  /// What `environment` sets beyond that of this process; `nil` when it lacks something.
  private static func differences(_ environment: [String: String]?) -> [String]? {
    guard let environment else { return [] }
    let current = ProcessOrder.currentEnvironment
    guard current.keys.allSatisfy({ environment[$0] != nil }) else { return nil }
    return environment.filter { current[$0.key] != $0.value }.map { "\($0.key)=\($0.value)" }
  }

  // MARK: In the prepared process

  private static func serve(
    _ connection: Int32, _ prepare: () -> Void, _ body: ([String]) -> Void
  ) -> Never {
    var isPrepared = false
    var message = scanmill_message()
    message.text = .allocate(capacity: Int(scanmill_message_bytes))
    while true {
      let order = scanmill_next_order(connection, &message)
      if order == scanmill_order_none { _exit(0) }
      if !isPrepared { prepare() }
      isPrepared = true
      guard order == scanmill_order_start else { continue }
      guard scanmill_fork_prepared(connection, &message) == 1 else { continue }
      let words = words(of: message)
      let count = message.arguments
      for variable in words.dropFirst(count) { _ = putenv(strdup(variable)) }
      show(words.prefix(count))
      body(words.prefix(count).map { PathText.text(of: UnsafePointer($0)) })
      exit(0)
    }
  }

  /// The strings of a message, copied.
  private static func words(of message: scanmill_message) -> [UnsafeMutablePointer<CChar>] {
    var words: [UnsafeMutablePointer<CChar>] = []
    guard let text = message.text else { return [] }
    var next = 0
    while next < message.count {
      let length = strnlen(text + next, message.count - next)
      if let copy = strndup(text + next, length) { words.append(copy) }
      next += length + 1
    }
    return words
  }

  /// What lists of processes show.
  private static func show(_ arguments: ArraySlice<UnsafeMutablePointer<CChar>>) {
    var text: [CChar] = []
    for word in arguments { text += UnsafeBufferPointer(start: word, count: strlen(word) + 1) }
    scanmill_show_arguments(CommandLine.unsafeArgv, CommandLine.argc, text, text.count)
  }
}
