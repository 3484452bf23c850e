import Core
import Synchronization
import SystemPackage
import Glibc

/// Runs programs of Slurm as children of the calling thread, with a time-out.
///
/// A program that exceeds the time-out is killed with all of its descendants. If this process dies,
/// the program is killed too.
final class SlurmCommand: Sendable {
  /// Slurm's commands themselves wait 9 s for a controller that does not answer.
  static let timeoutSeconds = 60.0
  static let pingTimeoutSeconds = 10.0
  /// The rows of 100,000 array tasks are about 10 MB.
  static let mostOutputBytes = 64 << 20
  private static let mostErrorBytes = 64 << 10

  private let environment: [String: String]
  private let runs = Mutex<[String: Int]>([:])

  /// - Parameter environment: the supervisor's; its `PATH` is searched for the programs.
  init(environment: [String: String]) {
    self.environment = environment
  }

  /// Number of runs of each program.
  var counts: [String: Int] { runs.withLock { $0 } }

  /// Runs `program` and waits for it. Must not be called from a thread that handles signals.
  func run(
    _ program: String, _ arguments: [String], input: [UInt8] = [],
    timeoutSeconds: Double = SlurmCommand.timeoutSeconds
  ) -> SlurmAnswer {
    guard let path = find(program) else { return SlurmAnswer(program: program, end: .absent) }
    runs.withLock { $0[program, default: 0] += 1 }
    var order = ProcessOrder(path.text, arguments)
    order.environment =
      program == "sbatch"
      ? SlurmEnvironment.of(environment) : SlurmEnvironment.ofQuestions(environment)
    order.isGuarded = true
    // A wrapper of a site may start the job on this machine.
    order.sparesDaemons = true
    order.diesWithStarter = true
    do {
      return try run(order, program, input, timeoutSeconds)
    } catch {
      let why = (error as? FileError)?.reason ?? "\(error)"
      return SlurmAnswer(program: program, end: .notStarted(why))
    }
  }

  private func find(_ program: String) -> FilePath? {
    let search = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return ProgramPath.find(
      program, in: search.split(separator: ":").filter { $0.hasPrefix("/") })
  }

  private func run(
    _ order: ProcessOrder, _ program: String, _ input: [UInt8], _ timeoutSeconds: Double
  ) throws -> SlurmAnswer {
    var order = order
    let start = MonotonicClock.seconds()
    let script = try input.isEmpty ? nil : MemoryFile.of(input)
    defer { try? script?.close() }
    let output = try Pipe()
    defer { try? output.reading.close() }
    let errors: Pipe
    do throws(FileError) {
      errors = try Pipe()
    } catch {
      try? output.writing.close()
      throw error
    }
    defer { try? errors.reading.close() }
    if let script { order.input = .descriptor(script) }
    order.output = .descriptor(output.writing)
    order.error = .descriptor(errors.writing)
    let started = Result { try ChildProcess(order) }
    try? output.writing.close()
    try? errors.writing.close()
    let child = try started.get()

    var following = ProgramFollower(
      child, output: output.reading, errors: errors.reading,
      limits: (Self.mostOutputBytes, Self.mostErrorBytes))
    var answer = SlurmAnswer(program: program, end: .timedOut(seconds: timeoutSeconds))
    switch following.follow(until: start + timeoutSeconds) {
    case .ended(let end):
      switch end.way {
      case .exited(let code): answer.end = .exited(code)
      case .killed(let signal): answer.end = .killed(signal: signal)
      }
    case .tooMuch: answer.end = .tooMuch
    case .timedOut: break
    }
    answer.output = following.outputText
    answer.errors = following.errorText
    answer.seconds = MonotonicClock.seconds() - start
    return answer
  }
}
