import Foundation
import Logging
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Watch

@Suite("What of captures is logged, and at which level")
struct AttentionLogTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ line: String) { all.withLock { $0.append(line) } }
    func take() -> [String] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private let lines = Lines()

  private func log() -> Logger {
    let lines = lines
    return Logger(label: "test") { _ in
      LogLineHandler(.journal, time: { "" }, write: { lines.add($0) })
    }
  }

  private func seen(_ name: String, _ stamp: String = "1") -> StagingSnapshot.Seen {
    StagingSnapshot.Seen(
      Recognition(
        family: .scannet, certainty: .certain, folder: FilePath("/in/\(name)"), stem: nil,
        id: name, reason: "test"),
      FolderSignature(text: stamp))
  }

  private func intake(_ captures: [StagingSnapshot.Seen]) -> IntakeState {
    var settings = WatchSettings()
    settings.settleSeconds = 1
    var intake = IntakeState(settings)
    var snapshot = StagingSnapshot()
    snapshot.captures = captures
    for time in [0.0, 10.0] {
      intake.take(snapshot, nowSeconds: time, nowText: "t", nearestFolder: { _ in nil })
    }
    return intake
  }

  private func answer(_ intake: inout IntakeState, _ name: String, _ phase: StagingEntry.Phase) {
    for var answer in intake.questions where answer.recognition?.id == name {
      answer.phase = phase
      intake.answer(answer)
    }
  }

  @Test
  func `a failure is an error with its cause, what lacks files a warning, and each is said once`()
    throws
  {
    var intake = intake([seen("bad"), seen("cut"), seen("fine"), seen("given-up")])
    answer(
      &intake, "bad",
      .failed(
        Failure(
          stage: "color", message: "ended by SIGSEGV\nlog", cause: .program, attempts: 1)))
    answer(&intake, "cut", .incomplete(missing: [".h264", ".imu"]))
    answer(&intake, "fine", .done())
    var quarantined = Failure(message: "m", cause: .input, attempts: 1)
    quarantined.isQuarantined = true
    answer(&intake, "given-up", .failed(quarantined))
    var log = AttentionLog(log())
    log.update(intake)
    #expect(
      lines.take() == [
        #"<3>needs you: failed attempts=1 capture=bad cause=program path=/in/bad"#
          + #" reason="ended by SIGSEGV log" stage=color"# + "\n",
        "<4>needs you: incomplete capture=cut path=/in/cut"
          + #" reason="no video, no IMU; waits for .h264 .imu""# + "\n",
        "<3>needs you: quarantined attempts=1 capture=given-up cause=input path=/in/given-up reason=m\n",
      ])
    log.update(intake)
    #expect(lines.take() == [])

    // What is noted is known from another night, or told by the report of the run.
    quarantined.isNoted = true
    var again = self.intake([seen("given-up"), seen("new")])
    answer(&again, "given-up", .failed(quarantined))
    answer(&again, "new", .failed(Failure(message: "m", cause: .machine)))
    var quiet = AttentionLog(self.log(), isQuiet: true)
    quiet.update(again)
    #expect(lines.take().map { $0.contains("capture=new") } == [true])
  }

  @Test func `what is marked is not said, and is once it is marked no more`() throws {
    var intake = intake([seen("cut")])
    answer(&intake, "cut", .incomplete(missing: [".imu"]))
    let record = MarkRecord(
      .ignore, note: nil, until: "changed", by: "anna", at: "2026-11-23T20:00:00Z", id: "cut",
      folder: "/in/cut", stem: nil)
    var log = AttentionLog(log())
    _ = intake.take([CaptureLocation("/in/cut"): CaptureMark(record)])
    log.update(intake)
    #expect(lines.take() == [])
    _ = intake.take([:])
    log.update(intake)
    #expect(
      lines.take() == [
        "<4>needs you: incomplete capture=cut file=.imu path=/in/cut"
          + #" reason="no IMU; waits for .imu""# + "\n"
      ])
  }
}

@Suite("Why a watcher makes something again is in its log")
struct CaptureEventLogTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ line: String) { all.withLock { $0.append(line) } }
    var text: [String] { all.withLock { $0 } }
  }

  private static func planned(_ stage: String, _ reason: Reason?) -> RunEvent {
    var event = RunEvent(kind: .planned, time: "t", capture: "a", stage: stage)
    event.action = reason == nil ? .upToDate : .run
    event.reason = reason
    return event
  }

  /// What is logged between the start and the end of a capture whose stages were planned so.
  private func told(_ plan: [(String, Reason?)]) -> [String] {
    let lines = Lines()
    let log = CaptureEventLog(
      Logger(label: "test") { _ in
        LogLineHandler(.journal, time: { "" }, write: { lines.add($0) })
      })
    log.send(RunEvent(kind: .captureStarted, time: "t", capture: "a"))
    for (stage, reason) in plan { log.send(Self.planned(stage, reason)) }
    for (stage, reason) in plan where reason != nil {
      log.send(RunEvent(kind: .started, time: "t", capture: "a", stage: stage))
    }
    log.send(RunEvent(kind: .captureFinished, time: "t", capture: "a"))
    return Array(lines.text.dropFirst().dropLast())
  }

  @Test("The reasons are told once with their stages, before the end")
  func again() {
    #expect(
      told([
        ("color", nil), ("imu", .parameters), ("depth", .inputChanged), ("tables", .parameters),
      ])
        == [
          #"<6>processed again capture=a why="parameters: imu, tables; input-changed: depth""#
            + "\n"
        ])
  }

  @Test("A capture without earlier results says nothing, one that is up to date says so")
  func others() {
    #expect(told([("color", .neverBuilt), ("tables", .neverBuilt)]) == [])
    #expect(
      told([("color", nil), ("tables", nil)])
        == ["<6>up to date, nothing is made again capture=a\n"])
    #expect(
      told([("color", nil), ("tables", .neverBuilt)])
        == [#"<6>processed again capture=a why="never-built: tables""# + "\n"])
  }
}

@Suite("Reports that are made by another process")
struct ReportPrinterTests {
  /// A program in place of ours.
  private static func printer(_ script: String, _ folder: TemporaryFolder) throws -> ReportPrinter {
    let program = folder.path.appending("program")
    try ShellScript.write(
      "#!/bin/sh\necho tried >> \(folder.path)/tries\n\(script)\n", to: program)
    var printer = ReportPrinter(program: program, output: folder.path)
    printer.limits.spinSeconds = 1
    return printer
  }

  @Test("One that computes without end is ended, tried once more, and told with its threads")
  func spinning() throws {
    let folder = try TemporaryFolder()
    let result = try Self.printer("while :; do :; done", folder).json(sinceSeconds: nil)
    #expect(result.bytes.isEmpty)
    let problem = try #require(result.problem)
    #expect(problem.contains("used the processor for"))
    #expect(problem.contains("(program), state "))
    #expect(LogFile.tail(of: folder.path.appending("tries"), lines: 9).count == 2)
  }

  @Test("One that fails or ends well is made once")
  func usual() throws {
    let folder = try TemporaryFolder()
    let good = try Self.printer("echo '{}'", folder).json(sinceSeconds: 60)
    #expect(good.bytes == Array("{}\n".utf8) && good.problem == nil)
    let bad = try Self.printer("echo oh no >&2; exit 3", folder).json(sinceSeconds: 60)
    #expect(bad.problem?.contains("oh no") == true)
    #expect(LogFile.tail(of: folder.path.appending("tries"), lines: 9).count == 2)
  }
}

@Suite("Log lines of a service")
struct LogLineHandlerTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
    func logger(_ style: LogLineHandler.Style) -> Logger {
      var logger = Logger(label: "scanmill") { _ in
        LogLineHandler(
          style, time: { "2026-11-20T22:00:00.000Z" },
          write: { line in self.all.withLock { $0.append(line) } })
      }
      logger.logLevel = .trace
      return logger
    }
  }

  @Test(
    "have the priority that the journal knows",
    arguments: [
      (Logger.Level.critical, "<3>"), (.error, "<3>"), (.warning, "<4>"), (.notice, "<5>"),
      (.info, "<6>"), (.debug, "<7>"), (.trace, "<7>"),
    ])
  func priorities(level: Logger.Level, prefix: String) {
    let lines = Lines()
    lines.logger(.journal).log(level: level, "queued", metadata: ["capture": "a b", "frames": "3"])
    #expect(lines.all.withLock { $0 } == ["\(prefix)queued capture=\"a b\" frames=3\n"])
  }

  @Test("have time and level where nobody else tells them")
  func plain() {
    let lines = Lines()
    lines.logger(.plain).warning("disk full")
    #expect(lines.all.withLock { $0 } == ["2026-11-20T22:00:00.000Z warning: disk full\n"])
  }

  @Test("as JSON hold nothing raw that a terminal would interpret, in keys neither")
  func json() throws {
    let odd = "a\u{9B}b\u{202E}c\u{2028}d\u{1B}[2Je\u{7F}"
    let handler = LogLineHandler(.json, time: { "now" }, write: { _ in })
    let line = handler.line(.warning, odd, ["note.unknown-key.\(odd)": "\(odd)"])
    #expect(line.hasSuffix("}\n"))
    for scalar in line.dropLast().unicodeScalars {
      #expect(scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F)
    }
    let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
    #expect(
      fields == [
        "level": "warning", "message": odd, "note.unknown-key.\(odd)": odd, "time": "now",
      ])
  }

  @Test("are one line each, and no name can forge another or its priority")
  func hostile() {
    let lines = Lines()
    lines.logger(.journal).info(
      "done\n<3>forged\r\u{1B}[31m", metadata: ["id\n": "x\n<0>y", "empty": "", "q": "\"="])
    #expect(
      lines.all.withLock { $0 } == [
        "<6>done\\u{A}<3>forged\\u{D}\\u{1B}[31m empty=\"\" id\\u{A}=x\\u{A}<0>y q=\"\\\"=\"\n"
      ])
  }

  @Test("go to the journal only when standard error is the one that the environment names")
  func stream() throws {
    let pipe = Foundation.Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    var status = stat()
    try #require(fstat(descriptor, &status) == 0)
    func isJournal(_ stream: String?, _ descriptor: Int32) -> Bool {
      let environment = stream.map { ["JOURNAL_STREAM": $0] } ?? [:]
      return LogLineHandler.style(environment: environment, descriptor: descriptor) == .journal
    }
    let name = "\(status.st_dev):\(status.st_ino)"
    #expect(isJournal(name, descriptor))
    #expect(!isJournal(nil, descriptor))
    #expect(!isJournal("", descriptor))
    #expect(!isJournal("\(status.st_dev):\(status.st_ino + 1)", descriptor))
    #expect(!isJournal(name, -1))
  }
}
