import Captures
import Pipeline
import Runner
import Storage
import SystemPackage
import Testing

@testable import Output
@testable import Watch

@Suite(
  "The intake of what is in STAGING: states follow from looks and from a clock that only goes forward"
)
struct IntakeStateTests {
  private static func settings() -> WatchSettings {
    var settings = WatchSettings()
    settings.settleSeconds = 60
    settings.patienceSeconds = 600
    return settings
  }

  private static func seen(
    _ name: String, _ text: String = "1", isTransferring: Bool = false, in folder: String = "/s"
  ) -> StagingSnapshot.Seen {
    StagingSnapshot.Seen(
      recognition: Recognition(
        family: .arkitScanner, certainty: .certain, folder: FilePath("\(folder)/\(name)"), id: name,
        reason: "test"),
      stamp: FolderSignature(text: "\(name) \(text)", isTransferring: isTransferring),
      folderID: FileID(device: 1, inode: 2))
  }

  private static func snapshot(_ seen: [StagingSnapshot.Seen]) -> StagingSnapshot {
    var snapshot = StagingSnapshot()
    snapshot.captures = seen
    snapshot.folderID = FileID(device: 1, inode: 1)
    snapshot.isEmpty = seen.isEmpty
    return snapshot
  }

  private static func look(
    _ intake: inout IntakeState, _ seen: [StagingSnapshot.Seen], at seconds: Double
  ) {
    intake.take(
      snapshot(seen), nowSeconds: seconds, nowText: "\(seconds)",
      nearestFolder: { _ in FileID(device: 1, inode: 1) })
  }

  private static func state(_ intake: IntakeState, _ name: String = "a") -> CaptureState? {
    intake.entries[CaptureLocation(folder: FilePath("/s/\(name)"))]?.state
  }

  private static func answer(
    _ intake: inout IntakeState, _ answer: IntakeState.Answer, at now: Double
  ) {
    for question in intake.questions(nowSeconds: now) { intake.answer(question, answer) }
  }

  @Test(
    "It is at rest when two looks a settle time apart find the same, whatever times its files bear")
  func rest() {
    var intake = IntakeState(Self.settings())
    Self.look(&intake, [Self.seen("a")], at: 0)
    Self.answer(&intake, .unknown, at: 0)
    Self.look(&intake, [Self.seen("a")], at: 59)
    #expect(intake.questions(nowSeconds: 59).isEmpty)
    #expect(Self.state(intake) == .arriving)
    Self.look(&intake, [Self.seen("a", "2")], at: 60)
    Self.answer(&intake, .unknown, at: 60)
    Self.look(&intake, [Self.seen("a", "2")], at: 119)
    #expect(intake.questions(nowSeconds: 119).isEmpty)
    Self.look(&intake, [Self.seen("a", "2")], at: 120)
    #expect(intake.questions(nowSeconds: 120).map(\.mayOpen) == [true])
    Self.answer(&intake, .ready, at: 120)
    #expect(Self.state(intake) == .queued)
  }

  @Test(
    "What earlier runs know is asked at the first sight: what is done need not come to rest again")
  func knownAtOnce() {
    var intake = IntakeState(Self.settings())
    Self.look(&intake, [Self.seen("a")], at: 0)
    #expect(intake.questions(nowSeconds: 0).map(\.mayOpen) == [false])
    Self.answer(&intake, .done(hasWarnings: true, nil), at: 0)
    #expect(Self.state(intake) == .doneWithWarnings)
    // And nothing is asked again as long as nothing changes.
    Self.look(&intake, [Self.seen("a")], at: 1000)
    #expect(intake.questions(nowSeconds: 1000).isEmpty)
  }

  @Test("A transfer's file keeps a capture arriving however long nothing changes")
  func transfer() {
    var intake = IntakeState(Self.settings())
    for seconds in [0.0, 100, 10_000] {
      Self.look(&intake, [Self.seen("a", isTransferring: true)], at: seconds)
      #expect(intake.questions(nowSeconds: seconds).isEmpty)
      #expect(Self.state(intake) == .arriving)
    }
  }

  @Test(
    "What lacks files is processed after the patience, and at once when the sender says that it is whole"
  )
  func patience() {
    for isMarked in [false, true] {
      var intake = IntakeState(Self.settings())
      Self.look(&intake, [Self.seen("a")], at: 0)
      Self.look(&intake, [Self.seen("a")], at: 60)
      Self.answer(&intake, .incomplete(missing: ["x"]), at: 60)
      #expect(Self.state(intake) == .incomplete)
      var later = Self.seen("a")
      later.mark.isComplete = isMarked
      Self.look(&intake, [later], at: 599)
      #expect(Self.state(intake) == (isMarked ? .queued : .incomplete))
      Self.look(&intake, [later], at: 600)
      #expect(Self.state(intake) == .queued)
    }
  }

  @Test("An answer about files that have changed meanwhile is worth nothing")
  func lateAnswer() {
    var intake = IntakeState(Self.settings())
    Self.look(&intake, [Self.seen("a")], at: 0)
    let questions = intake.questions(nowSeconds: 0)
    Self.look(&intake, [Self.seen("a", "2")], at: 1)
    for question in questions { intake.answer(question, .done(hasWarnings: false, nil)) }
    #expect(Self.state(intake) == .arriving)
  }

  @Test("An empty mount point is not: all captures are gone")
  func unmounted() {
    var intake = IntakeState(Self.settings())
    Self.look(&intake, [Self.seen("a")], at: 0)
    var empty = Self.snapshot([])
    empty.folderID = FileID(device: 9, inode: 1)
    intake.take(empty, nowSeconds: 30, nowText: "30")
    #expect(intake.stagingTrouble != nil)
    #expect(Self.state(intake) == .arriving)
    #expect(intake.lost.isEmpty)
    Self.look(&intake, [Self.seen("a")], at: 60)
    #expect(intake.stagingTrouble == nil)
    #expect(Self.state(intake) == .arriving)
  }

  @Test("A disk below STAGING that is not mounted takes no capture with it")
  func unmountedBelow() {
    var intake = IntakeState(Self.settings())
    var onDisk = Self.seen("a", in: "/s/usb")
    onDisk.folderID = FileID(device: 7, inode: 2)
    intake.take(
      Self.snapshot([onDisk, Self.seen("b")]), nowSeconds: 0, nowText: "0",
      nearestFolder: { _ in nil })
    Self.look(&intake, [Self.seen("b")], at: 30)
    #expect(intake.missingDisk != nil)
    // The others go on; those on the disk neither come to rest nor are started.
    #expect(intake.stagingTrouble == nil)
    Self.look(&intake, [Self.seen("b")], at: 90)
    #expect(intake.questions(nowSeconds: 90).map(\.recognition.id) == ["b"])
    #expect(intake.entries.count == 2)
    #expect(intake.lost.isEmpty)
  }

  @Test(
    "What went before it was done is lost; what was done, or is seen under another name, is not")
  func gone() {
    var intake = IntakeState(Self.settings())
    Self.look(&intake, [Self.seen("a"), Self.seen("b"), Self.seen("c")], at: 0)
    for question in intake.questions(nowSeconds: 0) {
      let isDone = question.recognition.id == "b"
      intake.answer(question, isDone ? .done(hasWarnings: false, nil) : .unknown)
    }
    // The files of c under another name.
    var renamed = Self.seen("d")
    renamed.stamp = FolderSignature(text: "c 1")
    Self.look(&intake, [renamed], at: 30)
    #expect(intake.lost.map(\.entry.id) == ["a"])
    #expect(intake.departed == [.done: 1])
    // It comes back: no loss.
    Self.look(&intake, [renamed, Self.seen("a")], at: 60)
    #expect(intake.lost.isEmpty)
  }

  @Test("Memory is bounded by what is there: what is done and removed leaves a number")
  func bounded() {
    var intake = IntakeState(Self.settings())
    for round in 0..<2_000 {
      Self.look(&intake, [Self.seen("c\(round)")], at: Double(round))
      Self.answer(&intake, .done(hasWarnings: false, nil), at: Double(round))
    }
    #expect(intake.entries.count == 1)
    #expect(intake.departed == [.done: 1_999])
    #expect(intake.lost.isEmpty)
  }

  @Test(
    "What changes while it runs is judged again when it ends, and so is what ran by rules that hold no longer"
  )
  func changedMeanwhile() {
    var intake = IntakeState(Self.settings())
    let location = CaptureLocation(folder: "/s/a")
    func run() {
      Self.look(&intake, [Self.seen("a")], at: 0)
      Self.look(&intake, [Self.seen("a")], at: 60)
      Self.answer(&intake, .ready, at: 60)
      intake.start(location)
      #expect(Self.state(intake) == .running)
    }
    run()
    Self.look(&intake, [Self.seen("a", "2")], at: 61)
    #expect(Self.state(intake) == .running)
    intake.end(location, .done(hasWarnings: false), "now")
    #expect(Self.state(intake) == .arriving)

    intake = IntakeState(Self.settings())
    run()
    intake.judgeAgain()
    intake.end(location, .done(hasWarnings: false), "now")
    #expect(intake.questions(nowSeconds: 62).map(\.mayOpen) == [true])
  }

  @Test("What the last watcher saw and this one does not is told, once STAGING has been seen")
  func previous() {
    var record = WatchRecord(
      staging: "/s", started: "1", lastLook: "2",
      waiting: [
        .init(id: "a", family: "strabo", path: "/s/a", state: .incomplete, since: "1"),
        .init(id: "b", family: "strabo", path: "/s/b", state: .queued, since: "1"),
      ])
    record.known = 3
    var intake = IntakeState(Self.settings(), previous: record)
    var empty = Self.snapshot([])
    empty.isEmpty = true
    intake.take(empty, nowSeconds: 0, nowText: "0")
    #expect(intake.stagingTrouble?.contains("3 captures") == true)
    #expect(intake.lost.isEmpty)
    Self.look(&intake, [Self.seen("a")], at: 1)
    #expect(intake.lost.map(\.entry.id) == ["b"])
    #expect(intake.lost.first?.entry.gone == true)
  }
}
