import FoundationEssentials
import Core
import SystemPackage

/// What a worker's thread tells the supervisor.
enum WorkerReport: Sendable {
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
struct WorkerProcess: Sendable {
  /// The executable that becomes a worker when it is called with `arguments`.
  let program: FilePath
  let arguments: [String]
  private let identity: FileIdentity?

  init(program: FilePath, arguments: [String]) {
    self.program = program
    self.arguments = arguments
    identity = try? FileIdentity(of: program)
  }

  /// A worker that runs and has no order yet.
  struct Started: Sendable {
    var child: ChildProcess
    /// Descriptor of what the worker says.
    var reading: FileDescriptor
    /// Descriptor of what the worker is told.
    var instructions: FileDescriptor
  }

  /// Lines that a worker prints before it has its log, at most.
  private static let mostEarlyLines = 100

  /// Starts one. From the thread that it is to end with.
  ///
  /// Until it has its log, what it or the loader of the system prints goes where its messages go.
  func spawn(memoryLimitBytes: Int64?) throws -> Started {
    let input = try Connection()
    let output: Pipe
    do throws(FileError) {
      output = try Pipe()
    } catch {
      try? input.ours.close()
      try? input.theirs.close()
      throw error
    }
    defer {
      try? input.theirs.close()
      try? output.writing.close()
    }
    var order = ProcessOrder(ProgramPath.lasting(program, known: identity).text, arguments)
    order.input = .descriptor(input.theirs)
    order.output = .descriptor(output.writing)
    order.error = .descriptor(output.writing)
    // A terminal's signals are for the supervisor, which passes on what they mean.
    order.hasOwnGroup = true
    order.diesWithStarter = true
    // The runtime's own crash handler keeps a crashed process waiting; what there is to know of a crash,
    // its signal and message, comes without it.
    order.environment = ProcessOrder.currentEnvironment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]
    ) { given, _ in given }
    order.dataLimitBytes = memoryLimitBytes.map(Self.dataLimit)
    do {
      return Started(
        child: try ChildProcess(order), reading: output.reading, instructions: input.ours)
    } catch {
      try? input.ours.close()
      try? output.reading.close()
      throw error
    }
  }

  /// Ends one that is not needed.
  func discard(_ started: Started) {
    started.child.kill()
    try? started.instructions.close()
    try? started.reading.close()
    _ = started.child.wait()
  }

  /// Gives it its log and its order, and tells what it says until it ends.
  ///
  /// - Parameter isLast: `false`: of one that ends before it has taken its order nothing is told.
  /// - Returns: how it has ended; `nil` when it had not taken its order and `isLast` is `false`.
  func serve(
    _ order: WorkerOrder, _ started: Started, _ log: LogFile,
    _ report: @Sendable (WorkerReport) -> Void, isLast: Bool
  ) throws -> ProcessEnd? {
    let instructions = LineWriter(started.instructions)
    do {
      let line = try JSONText.canonical(order)
      try log.withDescriptor { file in
        // One that is gone takes nothing: its end says so.
        _ = try? Connection.give(file, over: started.instructions)
      }
      report(.launched(started.child))
      instructions.write(line)
      report(.started(instructions: instructions))
    } catch {
      discard(started)
      throw error
    }
    var lines = LineReader(started.reading)
    var early: [[UInt8]] = []
    var hasBegun = false
    while let line = lines.next() {
      // What is no message was printed by another program; it is left alone.
      if let message = try? JSONDecoder().decode(WorkerMessage.self, from: Data(line)) {
        hasBegun = true
        report(.said(message))
      } else if !hasBegun, early.count < Self.mostEarlyLines {
        early.append(line)
      }
    }
    try? started.reading.close()
    for line in early { log.write(bytes: line + [UInt8(ascii: "\n")]) }
    // This thread lives as long as the worker: the kernel ends the worker with it.
    let end = started.child.wait()
    return hasBegun || isLast ? end : nil
  }

  /// The kernel counts address space, thread stacks included, where the worker's own watch counts
  /// resident pages: the limit that catches one leap of allocation lies above the watch's.
  private static func dataLimit(_ bytes: Int64) -> Int64 {
    let (sum, overflow) = (bytes + bytes / 2).addingReportingOverflow(1 << 30)
    return overflow ? .max : sum
  }
}
