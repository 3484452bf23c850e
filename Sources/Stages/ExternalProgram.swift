import Parallel
import Pipeline
import Processes
import Storage

/// Runs a program for a stage: its output goes to the job's log, a cancellation ends it and all that it
/// has started.
enum ExternalProgram {
  /// How long a program may take to end after SIGTERM.
  private static let patienceSeconds = 2.0

  /// What the line of the log that shows the command begins with.
  static let prompt = "$ "

  static func run(_ order: ProcessOrder, _ context: StageContext) throws -> ProcessEnd {
    try context.cancellation.check()
    var order = order
    order.isGuarded = true
    order.diesWithStarter = true
    let log = context.log
    log.write(prompt + ([order.program] + order.arguments).joined(separator: " "))
    // This thread stays until the program has ended, so that it dies with us and not before.
    let child = try log.withDescriptor { file in
      order.output = .descriptor(file)
      order.error = .descriptor(file)
      return try ChildProcess(order)
    }
    let ended = Mailbox<ProcessEnd>()
    JobThread.start { ended.put(child.wait()) }
    var waitedSeconds: Double?
    while true {
      if let end = ended.take(withinSeconds: 0.05) {
        try context.cancellation.check()
        return end
      }
      guard context.cancellation.isCancelled else { continue }
      if waitedSeconds == nil { child.terminate() }
      waitedSeconds = (waitedSeconds ?? 0) + 0.05
      if let waited = waitedSeconds, waited > patienceSeconds { child.kill() }
    }
  }
}
