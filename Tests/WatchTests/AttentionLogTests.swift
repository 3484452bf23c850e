@testable import Captures
import Logging
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import Testing

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
      recognition: Recognition(
        family: .scannet, certainty: .certain, folder: FilePath("/in/\(name)"), stem: nil,
        id: name, reason: "test"),
      stamp: FolderSignature(text: stamp))
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

  private func answer(_ intake: inout IntakeState, _ name: String, _ answer: IntakeAnswer) {
    for question in intake.questions(nowSeconds: 10) where question.recognition.id == name {
      intake.answer(question, answer)
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
    answer(&intake, "fine", .done(nil))
    var quarantined = Failure(message: "m", cause: .input, attempts: 1)
    quarantined.isQuarantined = true
    answer(&intake, "given-up", .quarantined(quarantined))
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
    answer(&again, "given-up", .quarantined(quarantined))
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
