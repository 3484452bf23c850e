import FoundationEssentials
import Core
import SystemPackage

/// What a worker's thread tells the supervisor.
enum WorkerReport {
  /// The process that is to do the work. Told again when it was gone already and another one takes its place.
  case launched(ChildProcess)
  /// The worker has been given its order.
  case started(instructions: LineWriter)
  case said(WorkerMessage)
  /// The worker has ended, after everything it said.
  case ended(ProcessEnd)
  /// The worker could not even be started.
  case failed(FileError)
}

/// How workers are started, given their order and listened to.
struct WorkerProcess {
  /// The executable that becomes a worker when it is called with `arguments`.
  let program: FilePath
  let arguments: [String]
  private let identity: FileIdentity?

  init(program: FilePath, arguments: [String]) {
    self.program = program
    self.arguments = arguments
    identity = try? FileIdentity(of: program)
  }

  /// Lines that a worker prints before it has its log, at most.
  private static let mostEarlyLines = 100

  /// Starts one, which has no order yet. From the thread that it is to end with.
  func spawn(memoryLimitBytes: Int64?) throws -> Channel {
    try Channel(
      ProgramPath.lasting(program, known: identity), arguments, memoryLimitBytes: memoryLimitBytes,
      diesWithThread: true)
  }

  /// Ends one that is not needed.
  func discard(_ worker: Channel) {
    worker.child.kill()
    _ = worker.close()
  }

  /// Gives it its log and its order, and tells what it says until it ends.
  ///
  /// - Parameter isLast: `false`: of one that ends before it has taken its order nothing is told.
  /// - Returns: how it has ended; `nil` when it had not taken its order and `isLast` is `false`.
  func serve(
    _ order: WorkerOrder, _ started: Channel, _ log: LogFile,
    _ report: @Sendable (WorkerReport) -> Void, isLast: Bool
  ) throws -> ProcessEnd? {
    let instructions = LineWriter(started.orders)
    do {
      let line = try JSONText.canonical(order)
      try log.withDescriptor { file in
        // A worker that has ended cannot receive the file; its end is reported below.
        _ = try? Connection.give(file, over: started.orders)
      }
      report(.launched(started.child))
      instructions.write(line)
      report(.started(instructions: instructions))
    } catch {
      discard(started)
      throw error
    }
    var lines = LineReader(started.answers)
    var early: [[UInt8]] = []
    var hasBegun = false
    while let line = lines.next() {
      // A line that is no message was printed by another program and is ignored.
      if let message = try? WorkerMessage(json: line) {
        hasBegun = true
        report(.said(message))
      } else if !hasBegun, early.count < Self.mostEarlyLines {
        early.append(line)
      }
    }
    try? started.answers.close()
    for line in early { log.write(bytes: line + [UInt8(ascii: "\n")]) }
    // The kernel ends the worker together with this thread, which therefore waits for it.
    let end = started.child.wait()
    return hasBegun || isLast ? end : nil
  }
}
