import Captures
import Core
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
    } catch  where error.kind == .stuck {
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
        kind: .other, problem: "no process could be started to look at it: \(error)")
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
  public enum Kind: Sendable {
    /// The process ended by a signal that tells of a mistake of ours, or of a library.
    case crashed
    /// A file got shorter while it was looked at.
    case inputChanged
    /// The process used more memory or time than it may.
    case limit
    /// The process did not get on, by no fault of a limit; tried twice.
    case stuck
    /// The process could not be started, or ended without a word.
    case other

    /// Whether it is an error of this program.
    public var isOurMistake: Bool { self == .crashed || self == .stuck }
  }

  public var kind: Kind
  /// What happened, as a clause.
  var problem: String
  public var folder: FilePath?

  public var description: String {
    (folder.map { $0.string.onOneLine + ": " } ?? "") + problem.shown
  }

  func about(_ folder: FilePath) -> InspectionFailure {
    var copy = self
    copy.folder = folder
    return copy
  }
}
