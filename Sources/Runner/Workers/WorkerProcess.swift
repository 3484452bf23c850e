import FoundationEssentials
import Parallel
import Pipeline
import Processes
import Storage
import SystemPackage

/// What a worker's thread tells the supervisor.
enum WorkerReport: Sendable {
  case started(ChildProcess, instructions: LineWriter)
  case said(WorkerMessage)
  /// It has ended, after everything it said.
  case ended(ProcessEnd)
  /// It could not even be started.
  case failed(FileError)
}

/// Starts workers and listens to them, each on a thread of its own.
struct WorkerProcess: Sendable {
  /// The executable that becomes a worker when it is called with `arguments`.
  let program: FilePath
  let arguments: [String]
  /// A copy of that executable which becomes a worker sooner, as long as it is there.
  let prepared: PreparedProcess?
  private let identity: FileIdentity?

  init(program: FilePath, arguments: [String], prepared: PreparedProcess? = nil) {
    self.program = program
    self.arguments = arguments
    self.prepared = prepared
    identity = try? FileIdentity(of: program)
  }

  /// Starts one. `report` is called from its thread, `started` or `failed` first, `ended` last.
  func start(_ order: WorkerOrder, log: LogFile, report: @escaping @Sendable (WorkerReport) -> Void)
  {
    let isStarted = JobThread.start {
      do {
        let (child, reading, instructions) = try spawn(order, log)
        report(.started(child, instructions: instructions))
        var lines = LineReader(reading)
        while let line = lines.next() {
          // What is no message was printed by somebody else; it is not ours to understand.
          if let message = try? JSONDecoder().decode(WorkerMessage.self, from: Data(line)) {
            report(.said(message))
          }
        }
        try? reading.close()
        // This thread lives as long as the worker: the kernel ends the worker with it.
        report(.ended(child.wait()))
      } catch {
        report(
          .failed(
            error as? FileError
              ?? FileError(kind: .other, path: program, operation: "make", reason: "\(error)")))
      }
    }
    if !isStarted { report(.failed(Shortage.ofThreads)) }
  }

  private typealias Started = (
    ChildProcess, reading: FileDescriptor, instructions: LineWriter
  )

  /// From the prepared process if it can, else by executing the program.
  private func spawn(_ order: WorkerOrder, _ log: LogFile) throws -> Started {
    if let prepared, let started = try spawn(order, log, { try prepared.start($0) }) {
      return started
    }
    guard let started = try spawn(order, log, { try ChildProcess($0) }) else {
      throw FileError(.resourceTemporarilyUnavailable, path: program, operation: "start")
    }
    return started
  }

  /// With pipes of its own for each attempt: what an attempt that failed may have left cannot be mistaken.
  private func spawn(
    _ order: WorkerOrder, _ log: LogFile, _ start: (ProcessOrder) throws -> ChildProcess?
  ) throws -> Started? {
    let input = try Pipe()
    let output: Pipe
    do throws(FileError) {
      output = try Pipe()
    } catch {
      try? input.reading.close()
      try? input.writing.close()
      throw error
    }
    var isStarted = false
    defer {
      if !isStarted {
        try? input.writing.close()
        try? output.reading.close()
      }
    }
    var process = ProcessOrder(
      ProgramPath.lasting(program, known: identity).text, arguments)
    process.input = .descriptor(input.reading)
    process.output = .descriptor(output.writing)
    // A terminal's signals are for the supervisor, which passes on what they mean.
    process.hasOwnGroup = true
    process.diesWithStarter = true
    // The runtime's own crash handler keeps a crashed process waiting; what there is to know of a crash,
    // its signal and message, comes without it.
    process.environment = ProcessOrder.currentEnvironment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]
    ) { given, _ in given }
    process.dataLimitBytes = order.memoryLimitBytes.map(Self.dataLimit)
    defer {
      try? input.reading.close()
      try? output.writing.close()
    }
    let line = try JSONText.canonical(order)
    let child = try log.withDescriptor { file in
      process.error = .descriptor(file)
      return try start(process)
    }
    guard let child else { return nil }
    isStarted = true
    let instructions = LineWriter(input.writing)
    instructions.write(line)
    return (child, output.reading, instructions)
  }

  /// The kernel counts address space, thread stacks included, where the worker's own watch counts
  /// resident pages: the limit that catches one leap of allocation lies above the watch's.
  private static func dataLimit(_ bytes: Int64) -> Int64 {
    let (sum, overflow) = (bytes + bytes / 2).addingReportingOverflow(1 << 30)
    return overflow ? .max : sum
  }
}
