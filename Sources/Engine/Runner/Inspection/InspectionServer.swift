import Captures
import Core
import FoundationEssentials
import Glibc
import SystemPackage

/// A process that opens captures for another one: a file that is cut under its eyes, a library that
/// crashes or a runaway allocation then costs one answer.
///
/// Questions come in on standard input, answers go out on standard output, a line of JSON each, one after
/// the other. It ends with whoever started it, also in the middle of a question: the kernel closes the
/// pipe.
public enum InspectionServer {
  /// How much private memory it may come to use unless told otherwise; then it ends itself.
  static let memoryVariable = "SCANMILL_LOOK_MEMORY"
  /// The exit code for that.
  static let exceededMemory: Int32 = 86

  /// Answers until the questions end.
  ///
  /// - Parameters:
  ///   - inspect: makes the page that `inspect` prints.
  ///   - draw: makes the picture that `view` writes.
  public static func run(
    _ captures: CaptureRegistry,
    inspect: (Capture, InspectionRequest) throws -> InspectionPage,
    draw: (Capture, InspectionRequest) throws -> InspectionPicture
  ) throws {
    ThreadStacks.answerRequests()
    WorkerTrial.begin()
    let own = try FileDescriptor.standardOutput.duplicate()
    // Whatever a library prints is no answer.
    _ = try FileDescriptor.standardError.duplicate(as: .standardOutput)
    if let limit = ProcessInfo.processInfo.environment[memoryVariable].flatMap(Int64.init) {
      guard MemoryWatch.start(limitBytes: limit, { _ in _exit(exceededMemory) }) else {
        throw ResourceExhaustion.ofThreads
      }
    }
    let channel = LineWriter(own)
    let questions = Mailbox<[UInt8]>()
    let isListening = JobThread.start {
      var lines = LineReader(.standardInput)
      while let line = lines.next() { questions.put(line) }
      // The client is gone.
      _exit(0)
    }
    guard isListening else { throw ResourceExhaustion.ofThreads }
    while true {
      let question = try InspectionRequest(json: questions.take())
      channel.write(try JSONText.canonical(answer(question, captures, inspect, draw)))
    }
  }

  private static func answer(
    _ question: InspectionRequest, _ captures: CaptureRegistry,
    _ inspect: (Capture, InspectionRequest) throws -> InspectionPage,
    _ draw: (Capture, InspectionRequest) throws -> InspectionPicture
  ) throws -> InspectionResponse {
    var answer = InspectionResponse()
    do {
      let recognition = question.recognition
      EnclosedPaths.enclose(recognition.path, links: .inside, followsPath: false)
      let capture = try captures.open(recognition)
      switch question.question {
      case .inspection: answer.inspection = try inspect(capture, question)
      case .sheet: answer.sheet = try draw(capture, question)
      case .summary:
        answer.opened = OpenedCapture(capture, of: recognition, captures)
      }
    } catch let error as CaptureError {
      answer.error = error
    }
    return answer
  }
}
