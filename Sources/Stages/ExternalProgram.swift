import Core
import Engine
import SystemPackage

/// Runs a program for a stage. Its output goes to the job's log; cancellation ends it and all
/// processes that it has started.
enum ExternalProgram {
  /// How long a program may take to end after SIGTERM.
  private static let graceSeconds = 2.0
  /// How long each wait for output lasts.
  private static let waitMilliseconds: Int32 = 50
  /// Number of waits between checks of whether the program has used the processor.
  private static let turnsPerActivityCheck = 40

  /// Start of the log line that shows the command.
  private static let prompt = "$ "

  private static func commandLine(_ order: ProcessOrder) -> String {
    prompt + ([order.program] + order.arguments).joined(separator: " ")
  }

  /// The last ten lines that the program printed. In the log they follow its command line.
  static func lastLines(of order: ProcessOrder, in log: FilePath) -> [String] {
    let lines = LogFile.tail(of: log, lines: 11)
    let command = commandLine(order).split(separator: "\n").last.map { String($0).shown }
    let start = lines.lastIndex { $0 == command }.map { $0 + 1 } ?? max(0, lines.count - 10)
    return Array(lines[start...])
  }

  static func run(_ order: ProcessOrder, _ context: StageContext) throws -> ProcessEnd {
    try context.cancellation.check()
    var order = order
    order.isGuarded = true
    order.diesWithStarter = true
    context.log.write(commandLine(order))
    let pipe = try Pipe()
    defer { try? pipe.reading.close() }
    order.output = .descriptor(pipe.writing)
    order.error = .descriptor(pipe.writing)
    let child: ChildProcess
    do {
      // This thread lives until the program has ended: the kernel ends the program together with
      // it.
      child = try ChildProcess(order)
      try pipe.writing.close()
    } catch {
      try? pipe.writing.close()
      throw error
    }
    var output = ProgramOutput(pipe.reading, context.log)
    let end = follow(child, &output, context)
    output.finish()
    try context.cancellation.check()
    return end
  }

  /// Waits until the program has ended. Needs no other thread.
  private static func follow(
    _ child: ChildProcess, _ output: inout ProgramOutput, _ context: StageContext
  ) -> ProcessEnd {
    var activity = ProgramActivity(of: child.id)
    var stoppingSinceSeconds: Double?
    var turns = 0
    return child.wait { seconds in
      if output.take(withinMilliseconds: waitMilliseconds) { context.progress.showLife() }
      turns += 1
      if turns % turnsPerActivityCheck == 0, activity.hasUsedProcessor() {
        context.progress.showLife()
      }
      guard context.cancellation.isCancelled else { return .goOn }
      guard let since = stoppingSinceSeconds else {
        stoppingSinceSeconds = seconds
        return .terminate
      }
      return seconds - since > graceSeconds ? .kill : .goOn
    }
  }
}
