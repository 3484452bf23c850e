import Core
import FoundationEssentials
import SystemPackage

/// A process of this program that is given orders and says what comes of them, a line of JSON each: a worker, or one
/// that looks into captures.
///
/// A terminal's signals are for who started it, which passes on what they mean. It ends with the channel, and with
/// who started it.
struct Channel {
  let child: ChildProcess
  let orders: FileDescriptor
  let answers: FileDescriptor

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - memoryLimitBytes: what it may come to use, which it sees to itself. The kernel counts address space, thread
  ///     stacks included, where that is resident pages: its limit, which catches one leap of allocation, lies above.
  ///   - errors: where the process and the loader of the system complain; `nil`: where answers go.
  ///   - diesWithThread: whether it ends with the thread that starts it.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String] = [:],
    memoryLimitBytes: Int64?, errors: FileDescriptor? = nil, diesWithThread: Bool
  ) throws {
    let input = try Connection()
    defer { try? input.theirs.close() }
    var output: Pipe?
    do {
      let pipe = try Pipe()
      output = pipe
      defer { try? pipe.writing.close() }
      var order = ProcessOrder(program.text, arguments)
      order.input = .descriptor(input.theirs)
      order.output = .descriptor(pipe.writing)
      order.error = .descriptor(errors ?? pipe.writing)
      order.hasOwnGroup = true
      order.diesWithStarter = diesWithThread
      // The runtime's own crash handler keeps a crashed process waiting; what there is to know of a crash,
      // its signal and message, comes without it.
      order.environment = ["SWIFT_BACKTRACE": "enable=no"]
        .merging(ProcessOrder.currentEnvironment) { _, given in given }
        .merging(environment) { _, own in own }
      order.dataLimitBytes = memoryLimitBytes.map { bytes in
        let (sum, overflow) = (bytes + bytes / 2).addingReportingOverflow(1 << 30)
        return overflow ? .max : sum
      }
      (orders, answers) = (input.ours, pipe.reading)
      child = try ChildProcess(order)
    } catch {
      for open in [input.ours, output?.reading].compactMap(\.self) { try? open.close() }
      throw error
    }
  }

  /// Waits for its end, which the end of the orders is to bring, and closes what is open.
  func close() -> ProcessEnd {
    try? orders.close()
    defer { try? answers.close() }
    return child.wait()
  }
}

extension LineWriter {
  /// Writes a value as a line of JSON. What the other end does not take any more is dropped.
  package func send(_ value: some Encodable, durably: Bool = false) {
    if let line = try? JSONText.canonical(value) { write(line, durably: durably) }
  }
}
