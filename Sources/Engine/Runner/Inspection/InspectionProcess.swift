import Captures
import FoundationEssentials
import Core
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// One `InspectionServer` as its user sees it. For one thread at a time.
final class InspectionProcess: Sendable {
  private let child: ChildProcess
  private let instructions: FileDescriptor
  private let answers: FileDescriptor
  private let complaints: FileDescriptor
  private let memoryBytes: Int64
  private let limits: LifeWatch.Limits
  private let asked = Mutex<Int>(0)
  private let hasEnded = Mutex<Bool>(false)

  init(
    program: FilePath, arguments: [String], memoryBytes: Int64,
    limits: LifeWatch.Limits
  ) throws {
    self.memoryBytes = memoryBytes
    self.limits = limits
    let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
    // Who complains too much is not waited for, and loses the rest.
    _ = fcntl(errors.writing.rawValue, F_SETFL, O_NONBLOCK)
    var order = ProcessOrder(program.string, arguments)
    order.input = .descriptor(input.reading)
    order.output = .descriptor(output.writing)
    order.error = .descriptor(errors.writing)
    // A terminal's signals are for us: when we end, the pipe does, and it with it.
    order.hasOwnGroup = true
    order.environment = ProcessOrder.currentEnvironment.merging(
      ["SWIFT_BACKTRACE": "enable=no", InspectionServer.memoryVariable: "\(memoryBytes)"]
    ) { _, ours in ours }
    // Address space, which the kernel counts, is more than what is resident: its limit is for leaps.
    order.dataLimitBytes = memoryBytes + memoryBytes / 2 + 1 << 30
    (instructions, answers, complaints) = (input.writing, output.reading, errors.reading)
    defer { for end in [input.reading, output.writing, errors.writing] { try? end.close() } }
    do {
      child = try ChildProcess(order)
    } catch {
      for end in [instructions, answers, complaints] { try? end.close() }
      throw error
    }
  }

  deinit { if !hasEnded.withLock({ $0 }) { dismiss() } }

  /// How many it has been asked.
  var questions: Int { asked.withLock { $0 } }

  /// Ends it.
  func dismiss() {
    try? instructions.close()
    _ = end()
  }

  /// Asks, and waits for the answer: the usual time, and one second more for each 2 MB of the capture, which a slow disk
  /// reads in that time. After an error it is gone.
  func ask(
    _ question: InspectionRequest, usualSeconds: Double = 600
  ) throws(InspectionFailure) -> InspectionResponse {
    asked.withLock { $0 += 1 }
    do {
      // It may have ended: then there is no answer either, and why is told by its end.
      signal(SIGPIPE, SIG_IGN)
      _ = try? instructions.writeAll(try JSONText.canonical(question) + [UInt8(ascii: "\n")])
      guard let line = try line(question.recognition, usualSeconds) else { throw failure() }
      return try JSONDecoder().decode(InspectionResponse.self, from: Data(line))
    } catch let failure as InspectionFailure {
      throw failure
    } catch {
      dismiss()
      throw InspectionFailure(kind: .other, problem: "its answer cannot be understood: \(error)")
    }
  }

  /// The next line; `nil` when it has ended without one.
  private func line(
    _ recognition: Recognition, _ usualSeconds: Double
  ) throws(InspectionFailure) -> [UInt8]? {
    var line: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let start = RunClock.system.monotonicSeconds()
    var watch = LifeWatch(limits, atSeconds: start)
    while true {
      var wanted = pollfd(fd: answers.rawValue, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, 1000)
      if ready == 0 {
        let now = RunClock.system.monotonicSeconds()
        let seconds = now - start
        let verdict = watch.look(
          atSeconds: now, stallSeconds: Self.stallSeconds, readsAndFaultsCount: true,
          signs: { ProcessSigns(of: child.id) })
        if let verdict { throw stuck(verdict) }
        // Files are looked at only when the usual time has passed.
        guard seconds > usualSeconds,
          seconds > usualSeconds + Double(Self.bytes(of: recognition)) / 2e6
        else { continue }
        dismiss(killing: true)
        throw InspectionFailure(
          kind: .limit, problem: "looking at it took more than \(Int(seconds)) s and was stopped")
      }
      let count = (try? piece.withUnsafeMutableBytes { try answers.read(into: $0) }) ?? 0
      if count == 0 { return nil }
      line += piece.prefix(count)
      if line.last == UInt8(ascii: "\n") { return line.dropLast() }
    }
  }

  private static func bytes(of recognition: Recognition) -> Int64 {
    let path = recognition.path
    guard !recognition.isFile, let names = try? FileSystem.names(in: path) else {
      return FolderSize(of: path).allocatedBytes
    }
    return names.filter { $0.hasPrefix(recognition.stem ?? "") }.reduce(Int64(0)) {
      $0 + FolderSize(of: path.appending(name: $1)).allocatedBytes
    }
  }

  /// Without reading anything, or using memory that it did not use before.
  private static let stallSeconds = 600.0
  /// How much of what it says about its threads is told.
  private static let mostStackBytes = 6000

  /// Kills it and says where its threads stood.
  private func stuck(_ verdict: LifeWatch.Verdict) -> InspectionFailure {
    var text = ""
    ThreadStacks.tell(of: child.id, write: { text += $0 + "\n" }) {
      var count: Int32 = 0
      return ioctl(complaints.rawValue, UInt(FIONREAD), &count) == 0 ? Int64(count) : 0
    }
    child.kill()
    _ = fcntl(complaints.rawValue, F_SETFL, O_NONBLOCK)
    var said = [UInt8](repeating: 0, count: 1 << 16)
    let count = (try? said.withUnsafeMutableBytes { try complaints.read(into: $0) }) ?? 0
    text += String(decoding: said.prefix(count), as: UTF8.self)
    dismiss()
    let how =
      switch verdict {
      case .silent(let seconds): "made no progress for \(Int(seconds.rounded())) s"
      case .spinning(let seconds):
        "used the processor for \(Int(seconds.rounded())) s without progress"
      }
    return InspectionFailure(
      kind: .stuck,
      problem: "the process that looked at it \(how), and was killed: an error in this program, "
        + "please report it; its threads stood here:\n" + text.prefix(Self.mostStackBytes))
  }

  private func dismiss(killing: Bool) {
    child.kill()
    dismiss()
  }

  /// Waits for its end and closes what is open.
  private func end() -> ProcessEnd? {
    let isFirst = hasEnded.withLock { ended in
      defer { ended = true }
      return !ended
    }
    guard isFirst else { return nil }
    let end = child.wait()
    try? answers.close()
    try? complaints.close()
    return end
  }

  /// What became of it.
  private func failure() -> InspectionFailure {
    // All writers are gone with it, or full: what is there can be read without waiting.
    _ = fcntl(complaints.rawValue, F_SETFL, O_NONBLOCK)
    var text = [UInt8](repeating: 0, count: 4096)
    try? instructions.close()
    let way = child.wait().way
    let count = (try? text.withUnsafeMutableBytes { try complaints.read(into: $0) }) ?? 0
    hasEnded.withLock { $0 = true }
    try? answers.close()
    try? complaints.close()
    let last = String(decoding: text.prefix(count), as: UTF8.self)
      .split(separator: "\n").suffix(3).joined(separator: "; ")
    let words = last.isEmpty ? "" : " (\(last))"
    switch way {
    case .exited(InspectionServer.exceededMemory):
      return InspectionFailure(
        kind: .limit,
        problem: "looking at it took more than \(memoryBytes >> 20) MB of memory and was stopped")
    case .killed(SIGBUS):
      return InspectionFailure(
        kind: .inputChanged,
        problem:
          "input-changed, most likely: a file was cut short while it was read, or its disk failed;"
          + " look again once the upload has settled")
    case .killed(let number) where [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGFPE].contains(number):
      return InspectionFailure(
        kind: .crashed,
        problem: "the process that looked at it was ended by \(SignalName.text(number)): "
          + "an error in this program, please report it\(words)")
    case .killed(let number):
      return InspectionFailure(
        kind: .limit,
        problem: "the process that looked at it was ended by \(SignalName.text(number))\(words)")
    case .exited(let code):
      return InspectionFailure(
        kind: .other,
        problem: "the process that looked at it exited with code \(code)\(words)")
    }
  }
}
