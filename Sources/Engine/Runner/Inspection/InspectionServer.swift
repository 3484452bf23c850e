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

/// A capture to be opened by another process, and what is asked of it; a line of JSON.
public struct InspectionRequest: Sendable, Codable {
  public enum Question: Sendable, Codable {
    /// What planning needs, and what stages are expected to write follows from.
    case summary
    /// What `inspect` prints; where it is quick, depth and confidence are not decoded.
    case inspection(isQuick: Bool)
    /// What `view` shows: so many frames at most (`nil` leaves it to the other), as a PNG or a JPEG file.
    case sheet(frames: Int?, isJPEG: Bool)
  }

  public var recognition: Recognition
  public var question: Question
  /// A calibration asked for in place of the capture's own.
  public var calibration: String?
  public var calibrationFolder: String?
  /// How many cores may be busy.
  public var cores = 1

  public init(
    _ question: Question = .summary, of recognition: Recognition, calibration: String? = nil,
    calibrationFolder: String? = nil
  ) {
    self.question = question
    self.recognition = recognition
    self.calibration = calibration
    self.calibrationFolder = calibrationFolder
  }
}

/// What the other process has to say; a line of JSON.
public struct InspectionResponse: Sendable, Codable {
  var opened: OpenedCapture?
  public var inspection: InspectionPage?
  public var sheet: InspectionPicture?
  /// Why the capture cannot be opened.
  public var error: CaptureError?
}

/// A picture of a capture, as a file.
public struct InspectionPicture: Sendable, Codable {
  public var file: Data
  /// Canonical frames that it shows.
  public var frames: [Int]
  /// Parts that the sheet shows: `color`, `overlay`, `depth`, `imu`.
  public var parts: [String]
  /// What could not be shown, and why.
  public var notes: [String]

  public init(file: [UInt8], frames: [Int], parts: [String], notes: [String]) {
    self.file = Data(file)
    (self.frames, self.parts, self.notes) = (frames, parts, notes)
  }
}

/// An inspection as it is printed.
public struct InspectionPage: Sendable, Codable {
  /// The JSON document, indented, with a line end.
  public var document: String
  public var text: String
  /// Why the calibration in force cannot be used.
  public var calibrationProblem: String?
  /// Warnings without notes, and streams that cannot be read: what `--strict` does not let pass.
  public var faults: Int
  /// Why it needs a person; empty: it needs no person.
  public var reasons: [NeedReason]

  /// - Parameter scan: what reading its streams has found.
  public init(
    document: String, text: String, calibrationProblem: String?, of capture: Capture,
    _ scan: StreamScan
  ) {
    self.document = document
    self.text = text
    self.calibrationProblem = calibrationProblem
    faults =
      capture.warnings.merged(with: scan.warnings).withoutNotes.count + capture.errors.count
    let error = capture.errors.first
    reasons = NeedReason.all(
      error == nil ? .done : .failed,
      failure: error.map { Failure(message: "\($0)", cause: .input) },
      missing: capture.completeness.absentFiles,
      altered: UploadRecord.altered(in: capture.path) { _, _ in nil },
      shortfalls: Shortfall.found(
        lacking: scan.lacking(capture), percent: Shortfall.usualPercent))
  }
}
