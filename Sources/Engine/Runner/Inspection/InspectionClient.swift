import Captures
import Core
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// Opens captures in other processes (`InspectionServer`), with limits on memory and time: for everything that
/// looks into captures without processing them.
///
/// Processes are kept for further questions. May be used from several threads; each question takes a
/// process of its own.
public final class InspectionClient: Sendable {
  private let program: FilePath
  private let arguments: [String]
  private let memoryBytes: Int64
  private let limits: LifeWatch.Limits
  private let mostSeconds: Double?
  /// Processes that wait for questions.
  private let idle = Mutex<[InspectionProcess]>([])

  /// Number of questions after which a new process takes the place of one: what a library leaks does not add up.
  private static let mostQuestions = 64

  /// - Parameters:
  ///   - program: the executable that, called with `arguments`, calls `InspectionServer.run`.
  ///   - atOnce: how many questions are asked at a time.
  ///   - memoryBytes: what one process may use; by default 4 GiB, or its part of nine tenths of what
  ///     there is if that is less.
  ///   - limits: when a process that does not get on is killed.
  ///   - mostSeconds: how long an answer is waited for; by default as long as a slow disk may take.
  public init(
    program: FilePath, arguments: [String], atOnce: Int, memoryBytes: Int64? = nil,
    limits: LifeWatch.Limits = LifeWatch.Limits(ProcessOrder.currentEnvironment),
    mostSeconds: Double? = nil
  ) {
    self.mostSeconds = mostSeconds
    let part = MachineLimits.availableMemoryBytes / 10 * 9 / Int64(max(1, atOnce))
    (self.program, self.arguments, self.limits) = (program, arguments, limits)
    self.memoryBytes = memoryBytes ?? min(4 << 30, part)
  }

  /// What `question` is answered with. Throws `InspectionFailure`; a capture that cannot be read is an
  /// answer.
  ///
  /// Cost beside the look itself: the start of a process for the first questions, a millisecond later.
  public func ask(_ question: InspectionRequest) throws(InspectionFailure) -> InspectionResponse {
    do {
      return try askOnce(question)
    } catch  where error.code == .hung {
      // Perhaps not by anything of the capture: once more, with another process.
      do {
        return try askOnce(question)
      } catch {
        throw error.about(question.recognition.path)
      }
    } catch {
      throw error.about(question.recognition.path)
    }
  }

  private func askOnce(_ question: InspectionRequest) throws(InspectionFailure)
    -> InspectionResponse
  {
    let waiting = idle.withLock { $0.popLast() }
    let process = if let waiting { waiting } else { try start() }
    let answer = try process.ask(question, mostSeconds: mostSeconds)
    if process.questions < Self.mostQuestions {
      idle.withLock { $0.append(process) }
    } else {
      process.close()
    }
    return answer
  }

  private func start() throws(InspectionFailure) -> InspectionProcess {
    do {
      return try InspectionProcess(
        program: program, arguments: arguments, memoryBytes: memoryBytes, limits: limits)
    } catch {
      throw InspectionFailure(
        code: .noProgram, problem: "no process could be started to look at it: \(error)")
    }
  }

  /// What planning needs to know of a capture.
  public func look(at recognition: Recognition) throws(CaptureError) -> OpenedCapture {
    do {
      let answer = try ask(InspectionRequest(of: recognition))
      if let opened = answer.opened { return opened }
      throw answer.error
        ?? CaptureError(file: recognition.path, problem: "no result came back for it")
    } catch let error as CaptureError {
      throw error
    } catch let failure as InspectionFailure {
      throw CaptureError(file: recognition.path, problem: failure.problem)
    } catch {
      throw CaptureError(file: recognition.path, problem: "\(error)")
    }
  }
}

/// Why there is no answer.
public struct InspectionFailure: Error, CustomStringConvertible {
  /// What became of the process.
  var code: FailureDetail.Code
  /// What happened, as a clause.
  var problem: String
  public var folder: FilePath?

  /// Whether it is an error of this program: a signal that tells of one ended the process, or it did not get on by no
  /// fault of a limit.
  public var isOurMistake: Bool { code == .crashed || code == .hung }

  public var description: String {
    (folder.map { $0.string.onOneLine + ": " } ?? "") + problem.shown
  }

  func about(_ folder: FilePath) -> InspectionFailure {
    var copy = self
    copy.folder = folder
    return copy
  }
}

/// One `InspectionServer` as its user sees it. For one thread at a time.
final class InspectionProcess: Sendable {
  private let channel: Channel
  private let complaints: FileDescriptor
  private let memoryBytes: Int64
  private let limits: LifeWatch.Limits
  private let state = Mutex<State>(State())

  private struct State {
    var questions = 0
    /// How it has ended, and what it had complained about.
    var end: (way: ProcessEnd.Way, said: [UInt8])?
  }

  init(
    program: FilePath, arguments: [String], memoryBytes: Int64,
    limits: LifeWatch.Limits
  ) throws {
    (self.memoryBytes, self.limits) = (memoryBytes, limits)
    let errors = try Pipe()
    defer { try? errors.writing.close() }
    // Who complains too much is not waited for, and loses the rest.
    for end in [errors.reading, errors.writing] { _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK) }
    complaints = errors.reading
    do {
      channel = try Channel(
        program, arguments, environment: [InspectionServer.memoryVariable: "\(memoryBytes)"],
        memoryLimitBytes: memoryBytes, errors: errors.writing, diesWithThread: false)
    } catch {
      try? complaints.close()
      throw error
    }
  }

  deinit { close() }

  /// How many it has been asked.
  var questions: Int { state.withLock { $0.questions } }

  /// Ends it, unless it has ended, and tells how it ended and what it had complained about.
  @discardableResult func close() -> (way: ProcessEnd.Way, said: [UInt8]) {
    state.withLock { state in
      if let end = state.end { return end }
      let way = channel.close().way
      var said = [UInt8](repeating: 0, count: 1 << 16)
      let count = (try? said.withUnsafeMutableBytes { try complaints.read(into: $0) }) ?? 0
      try? complaints.close()
      let end = (way, Array(said.prefix(count)))
      state.end = end
      return end
    }
  }

  /// Asks, and waits for the answer: `mostSeconds`, by default the usual time, and one second more for each 2 MB of the
  /// capture, which a slow disk reads in that time. After an error it is gone.
  func ask(
    _ question: InspectionRequest, usualSeconds: Double = 600, mostSeconds: Double? = nil
  ) throws(InspectionFailure) -> InspectionResponse {
    state.withLock { $0.questions += 1 }
    do {
      // If the process has ended there is no answer, and `failure` tells why.
      signal(SIGPIPE, SIG_IGN)
      LineWriter(channel.orders).send(question)
      guard let line = try line(question.recognition, usualSeconds, mostSeconds) else {
        throw failure()
      }
      return try InspectionResponse(json: line)
    } catch let failure as InspectionFailure {
      throw failure
    } catch {
      close()
      throw InspectionFailure(
        code: .programFailed, problem: "its answer cannot be understood: \(error)")
    }
  }

  /// The next line; `nil` when it has ended without one.
  private func line(
    _ recognition: Recognition, _ usualSeconds: Double, _ mostSeconds: Double?
  ) throws(InspectionFailure) -> [UInt8]? {
    var line: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let start = RunClock.system.monotonicSeconds()
    var watch = LifeWatch(limits, atSeconds: start)
    while true {
      var wanted = pollfd(fd: channel.answers.rawValue, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, 1000)
      if ready == 0 {
        let now = RunClock.system.monotonicSeconds()
        let seconds = now - start
        let verdict = watch.look(
          atSeconds: now, stallSeconds: Self.stallSeconds, readsAndFaultsCount: true,
          signs: { ProcessSigns(of: channel.child.id) })
        if let verdict { throw stuck(verdict) }
        // Files are looked at only when the usual time has passed.
        guard seconds > mostSeconds ?? usualSeconds,
          mostSeconds != nil
            || seconds > usualSeconds + Double(Self.bytes(of: recognition)) / 2e6
        else { continue }
        channel.child.kill()
        close()
        throw InspectionFailure(
          code: .outOfTime,
          problem: "looking at it took more than \(Int(seconds)) s and was stopped")
      }
      let count = (try? piece.withUnsafeMutableBytes { try channel.answers.read(into: $0) }) ?? 0
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

  /// The time without a byte read and without memory that was not used before.
  private static let stallSeconds = 600.0
  /// How much of what it says about its threads is told.
  private static let mostStackBytes = 6000

  /// Kills it and says where its threads stood.
  private func stuck(_ verdict: LifeWatch.Verdict) -> InspectionFailure {
    let stacks = ThreadStacks.text(of: channel.child.id) {
      var count: Int32 = 0
      return ioctl(complaints.rawValue, UInt(FIONREAD), &count) == 0 ? Int64(count) : 0
    }
    channel.child.kill()
    let text = stacks + String(decoding: close().said, as: UTF8.self)
    return InspectionFailure(
      code: .hung,
      problem: "the process that looked at it \(verdict.phrase), and was killed: an error in this "
        + "program, please report it; its threads stood here:\n" + text.prefix(Self.mostStackBytes))
  }

  /// What became of it.
  private func failure() -> InspectionFailure {
    let (way, said) = close()
    let last = String(decoding: said.prefix(4096), as: UTF8.self)
      .split(separator: "\n").suffix(3).joined(separator: "; ")
    let words = last.isEmpty ? "" : " (\(last))"
    switch way {
    case .exited(InspectionServer.exceededMemory):
      return InspectionFailure(
        code: .outOfMemory,
        problem: "looking at it took more than \(memoryBytes >> 20) MB of memory and was stopped")
    case .killed(SIGBUS):
      return InspectionFailure(
        code: .inputChanged,
        problem:
          "input-changed, most likely: a file was cut short while it was read, or its disk failed;"
          + " look again once the upload has settled")
    case .killed(let number) where [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGFPE].contains(number):
      return InspectionFailure(
        code: .crashed,
        problem: "the process that looked at it was ended by \(SignalName.text(number)): "
          + "an error in this program, please report it\(words)")
    case .killed(let number):
      return InspectionFailure(
        code: .killed,
        problem: "the process that looked at it was ended by \(SignalName.text(number))\(words)")
    case .exited(let code):
      return InspectionFailure(
        code: .programFailed,
        problem: "the process that looked at it exited with code \(code)\(words)")
    }
  }
}
