@testable import Captures
import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Watch

/// A minute until what came is at rest, ten until what lacks files is processed.
private let usual = {
  var settings = WatchSettings()
  settings.settleSeconds = 60
  settings.patienceSeconds = 600
  return settings
}()

/// A capture as a scan of STAGING sees it; `text` stands for its files.
private func capture(
  _ name: String, _ text: String = "1", isTransferring: Bool = false, in folder: String = "/s"
) -> StagingSnapshot.Seen {
  var seen = StagingSnapshot.Seen(
    Recognition(
      family: .arkitScanner, certainty: .certain, folder: FilePath("\(folder)/\(name)"), id: name,
      reason: "test"),
    FolderSignature(text: "\(name) \(text)", isTransferring: isTransferring))
  seen.folderID = FileID(device: 1, inode: name.utf8.reduce(2) { $0 &* 31 &+ UInt64($1) })
  return seen
}

private func snapshot(of seen: [StagingSnapshot.Seen]) -> StagingSnapshot {
  var snapshot = StagingSnapshot()
  snapshot.captures = seen
  snapshot.folderID = FileID(device: 1, inode: 1)
  snapshot.isEmpty = seen.isEmpty
  return snapshot
}

extension IntakeState {
  fileprivate mutating func look(_ seen: [StagingSnapshot.Seen], at seconds: Double) {
    take(
      snapshot(of: seen), nowSeconds: seconds, nowText: "\(seconds)", folderID: { _ in nil },
      nearestFolder: { _ in FileID(device: 1, inode: 1) })
  }

  fileprivate func state(_ name: String = "a") -> CaptureState? {
    entries[CaptureLocation(FilePath("/s/\(name)"))]?.state
  }

  /// Answers with a phase; `nil`: nothing was found out.
  fileprivate mutating func answerAll(_ phase: StagingEntry.Phase?, isUnverified: Bool = false) {
    for var answer in questions {
      if let phase { answer.phase = phase }
      answer.isUnverified = isUnverified
      self.answer(answer)
    }
  }
}

@Suite(
  "The intake of what is in STAGING: states follow from looks and from a clock that only goes forward"
)
struct IntakeStateTests {
  @Test("What cannot be looked at has failed by the machine until it can be, and is not gone")
  func unreadable() throws {
    var intake = IntakeState(usual)
    let all = [capture("a"), capture("b", in: "/s/day"), capture("c", in: "/s/day")]
    intake.look(all, at: 0)
    intake.look(all, at: 60)
    intake.answerAll(.done())
    var blind = snapshot(of: [])
    for path in ["/s/a", "/s/day", "/s/new"] {
      let error = FileError(.staleNFSFileHandle, path: FilePath(path), operation: "list")
      blind.unreadable[CaptureLocation(error.path)] = error
    }
    intake.take(blind, nowSeconds: 70, nowText: "70", folderID: { _ in nil })
    for name in ["a", "day", "new"] {
      #expect(intake.state(name) == .failed)
      guard
        case .failed(let trouble)? = intake.entries[CaptureLocation(FilePath("/s/\(name)"))]?.phase
      else { continue }
      #expect(trouble.cause == .machine)
      #expect(trouble.text.contains("cannot be listed"))
    }
    #expect(intake.state("day/b") == .done)
    #expect(WatchSummary(intake).isOpen)
    #expect(intake.disappeared.total == 0)
    // It is well again: what was done is asked about and done, what was new begins.
    intake.look(all + [capture("new")], at: 80)
    #expect(intake.state("day") == nil)
    #expect(intake.state("new") == .arriving)
    intake.answerAll(.done())
    #expect(["a", "day/b", "day/c"].map { intake.state($0) } == [.done, .done, .done])
    #expect(intake.disappeared.total == 0)
  }

  @Test(
    "It is at rest when two looks a settle time apart find the same, whatever times its files bear")
  func rest() {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    intake.answerAll(nil)
    intake.look([capture("a")], at: 59)
    #expect(intake.questions.isEmpty)
    #expect(intake.state() == .arriving)
    intake.look([capture("a", "2")], at: 60)
    intake.answerAll(nil)
    intake.look([capture("a", "2")], at: 119)
    #expect(intake.questions.isEmpty)
    intake.look([capture("a", "2")], at: 120)
    #expect(intake.questions.map(\.mayOpen) == [true])
    intake.answerAll(.queued)
    #expect(intake.state() == .queued)
  }

  @Test(
    "Thousands of done captures whose modes or owners change stay done, at the first look and after it"
  )
  func changedModes() {
    var intake = IntakeState(usual)
    func seen(_ mode: String) -> [StagingSnapshot.Seen] {
      (0..<3_000).map { number in
        var seen = capture("c\(number)")
        seen.stamp = FolderSignature(text: "\(number)", mode: mode)
        return seen
      }
    }
    func states() -> Set<CaptureState?> { Set(intake.entries.values.map(\.state)) }
    intake.look(seen("600"), at: 0)
    intake.answerAll(.done())
    #expect(states() == [.done])
    intake.look(seen("755"), at: 30)
    // Before anybody has answered.
    #expect(states() == [.done])
    #expect(intake.questions.count == 3_000)
    intake.answerAll(.done(), isUnverified: true)
    #expect(states() == [.done] && intake.queue.isEmpty)
    #expect(intake.nextUnverified?.order == 1)
    intake.look(seen("755"), at: 60)
    #expect(states() == [.done] && intake.questions.isEmpty)
  }

  private static func publish(_ stage: String, _ layout: OutputLayout) throws {
    let record = try ArtifactRecord(
      stage: stage,
      ingredients: FingerprintInputs(
        uses: "toy", version: 1, parameters: [:],
        inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:])),
      recorded: [:],
      outputs: [OutputEntry(path: "x", bytes: 1, sha256: Digest(of: "x"))], started: "",
      finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1, warnings: [])
    try FileSystem.makeFolder(layout.artifact(stage))
    try OutputFile.write(Array("x".utf8), to: layout.artifact(stage).appending("x"))
    try OutputFile.write(JSONText.pretty(record), to: layout.record(stage))
  }

  @Test(
    "Results that go between the end of a run and the note of its end are asked about again",
    arguments: ["depth", "depth/artifact.json", "depth/x"])
  func removedMeanwhile(removed: String) throws {
    let folder = try TemporaryFolder()
    let layout = OutputLayout(root: folder.path, name: "a")
    for stage in ["imu", "depth"] { try Self.publish(stage, layout) }
    var report = CaptureReport(
      id: "a", path: "/s/a", family: "arkit-scanner", outcome: .made)
    report.stages = [
      StageReport(stage: "imu", uses: "match-imu", outcome: .made),
      StageReport(stage: "depth", uses: "decompress-depth", outcome: .upToDate),
      StageReport(stage: "tags", uses: "command", outcome: .notPossible),
    ]
    let before = OutputSignature(of: layout, holding: report)
    #expect(before != nil)
    // What cannot be opened is not gone.
    StorageFaults.setLooks(below: layout.artifact("depth")) { look, _ in
      look == .open ? .permissionDenied : nil
    }
    #expect(OutputSignature.unknown(report, in: layout)?.path == layout.artifact("depth"))
    StorageFaults.setLooks(below: layout.artifact("depth")) { look, path in
      look == .inspect && path.lastComponent == "x" ? .ioError : nil
    }
    #expect(OutputSignature(of: layout, holding: report) == nil)
    #expect(
      OutputSignature.unknown(report, in: layout)?.path == layout.artifact("depth").appending("x"))
    StorageFaults.setLooks(below: layout.artifact("depth"), nil)
    #expect(OutputSignature(of: layout, holding: report) == before)
    try FileManager.default.removeItem(
      atPath: layout.folder.appending(FilePath(removed).components).string)
    #expect(OutputSignature(of: layout, holding: report) == nil)
    #expect(OutputSignature.unknown(report, in: layout) == nil)
    if removed == "depth" { #expect(OutputSignature(of: layout) != before) }

    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    intake.answerAll(.queued)
    let location = CaptureLocation(FilePath("/s/a"))
    intake.start(location, nowSeconds: 0)
    intake.end(location, .done(), nowSeconds: 1, "1")
    intake.noteOutput(location, OutputSignature(of: layout, holding: report))
    #expect(intake.questions.map(\.location) == [location])
    intake.answerAll(.queued)
    #expect(intake.state() == .queued)
  }

  @Test(
    "What earlier runs know is asked at the first sight: what is done need not come to rest again")
  func knownAtOnce() {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    #expect(intake.questions.map(\.mayOpen) == [false])
    intake.answerAll(.done())
    #expect(intake.state() == .done)
    // And nothing is asked again as long as nothing changes.
    intake.look([capture("a")], at: 1000)
    #expect(intake.questions.isEmpty)
  }

  @Test(
    "A transfer's file keeps a capture arriving; after the time-out without a byte it is stalled, until more comes"
  )
  func transfer() {
    var intake = IntakeState(usual)
    func look(_ text: String, at seconds: Double) -> CaptureState? {
      var seen = capture("a", text, isTransferring: true)
      seen.stamp.temporaryFile = "a.h264.part"
      seen.stamp.bytes = 12
      intake.look([seen], at: seconds)
      #expect(intake.questions.isEmpty)
      return intake.state()
    }
    #expect(look("1", at: 0) == .arriving)
    #expect(look("1", at: 3599) == .arriving)
    #expect(look("1", at: 3600) == .stalledUpload)
    #expect(look("1", at: 9000) == .stalledUpload)
    let entry = intake.entries.values.first
    #expect(entry?.upload == UploadProgress(bytes: 12, temporaryFile: "a.h264.part"))
    #expect(entry?.since == "0.0" && entry?.reasons.map(\.code) == [.stalledUpload])
    #expect(look("2", at: 9001) == .arriving)
    #expect(look("2", at: 12_601) == .stalledUpload)
    // The temporary file gets its name.
    intake.look([capture("a", "3")], at: 12_602)
    #expect(intake.state() == .arriving)
    intake.look([capture("a", "3")], at: 12_662)
    #expect(intake.questions.count == 1)
  }

  @Test(
    "What an upload server waits for is asked with the files, and again when it waits for something else"
  )
  func waitsFor() throws {
    var intake = IntakeState(usual)
    var seen = capture("a")
    seen.mark.waitsFor = [".imu", "a.depth"]
    intake.look([seen], at: 0)
    intake.answerAll(nil)
    intake.look([seen], at: 60)
    #expect(intake.questions.map(\.mark.waitsFor) == [[".imu", "a.depth"]])
    intake.answerAll(.incomplete(missing: [".imu", "a.depth"]))
    #expect(intake.state() == .incomplete)
    #expect(intake.questions.isEmpty)
    // The digest of the one was compared again, and was right: no file has changed.
    seen.mark.waitsFor = [".imu"]
    intake.look([seen], at: 90)
    #expect(intake.questions.map(\.mark.waitsFor) == [[".imu"]])
    intake.answerAll(.incomplete(missing: [".imu"]))
    let entry = try #require(intake.entries.values.first)
    guard case .incomplete(let missing, _) = entry.phase else { throw CancellationError() }
    #expect(missing == [".imu"])
    // What never comes is not waited for for ever.
    intake.look([seen], at: 600)
    #expect(intake.state() == .queued)
  }

  @Test(
    "A folder in which nothing is recognized yet is arriving while an upload server has something on its way"
  )
  func incomingUnrecognized() {
    var intake = IntakeState(usual)
    func look(_ incoming: IncomingUpload?, at seconds: Double) {
      var scan = snapshot(of: [])
      scan.isEmpty = false
      scan.unrecognized = [
        StagingSnapshot.Seen(
          UnrecognizedFolder(path: FilePath("/s/a"), holds: ["a.txt"]),
          FolderSignature(text: "1", isTransferring: false))
      ]
      scan.unrecognized[0].incoming = incoming
      intake.take(
        scan, nowSeconds: seconds, nowText: "\(seconds)", folderID: { _ in nil },
        nearestFolder: { _ in FileID(device: 1, inode: 1) })
    }
    look(IncomingUpload(bytes: 1, progress: "1"), at: 0)
    look(IncomingUpload(bytes: 2, progress: "2"), at: 100)
    look(IncomingUpload(bytes: 3, progress: "3"), at: 200)
    #expect(intake.state() == .arriving)
    look(nil, at: 210)
    look(nil, at: 269)
    #expect(intake.state() == .arriving)
    look(nil, at: 270)
    #expect(intake.state() == nil && intake.entries.count == 1)
  }

  @Test("What an upload server has on its way stalls as well, and survives the end of a watcher")
  func incoming() throws {
    var intake = IntakeState(usual)
    var seen = capture("a")
    seen.incoming = IncomingUpload(bytes: 5, temporaryFile: ".incoming/x.part", progress: "5")
    intake.look([seen], at: 0)
    intake.look([seen], at: 3000)
    #expect(intake.state() == .arriving)
    let records = FirstSeenRecords(intake.entries.values)
    let known = records.known(boot: records.boot, nowSeconds: 3001, now: .now)
    var next = IntakeState(usual)
    func look(at seconds: Double) {
      next.take(
        snapshot(of: [seen]), nowSeconds: seconds, nowText: "\(seconds)", recorded: known)
    }
    look(at: 3001)
    #expect(next.state() == .arriving)
    look(at: 3600)
    #expect(next.state() == .stalledUpload)
    #expect(next.entries.values.first?.upload.bytes == 5)
    seen.incoming?.progress = "6"
    look(at: 3601)
    #expect(next.state() == .arriving)
  }

  @Test("A change of owner, mode or inode alone leaves every state as it is and asks again")
  func modes() {
    let location = CaptureLocation("/s/a")
    for phase in ["done", "incomplete", "queued"] {
      var intake = IntakeState(usual)
      intake.look([capture("a")], at: 0)
      intake.look([capture("a")], at: 60)
      let before: StagingEntry.Phase =
        switch phase {
        case "done": .done()
        case "incomplete": .incomplete(missing: ["x"])
        default: .queued
        }
      intake.answerAll(before)
      let state = intake.state()
      var changed = capture("a")
      changed.stamp = FolderSignature(text: "a 1", mode: "u+r")
      intake.look([changed], at: 61)
      #expect(intake.state() == state)
      #expect(intake.questions.count == (phase == "done" ? 1 : 0))
      guard phase == "done" else { continue }
      intake.answerAll(.done(), isUnverified: true)
      #expect(intake.state() == .done)
      let next = intake.nextUnverified
      #expect(next?.location == location)
      if let next { intake.verified(next, isSame: false, nil) }
      #expect(intake.state() == .queued)
    }
  }

  @Test(
    "A folder that is renamed while it is processed is one capture, before and after the end of its run"
  )
  func renamedAtWork() {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    intake.look([capture("a")], at: 60)
    intake.answerAll(.queued)
    let old = CaptureLocation("/s/a")
    intake.start(old, nowSeconds: 0)
    var renamed = capture("b")
    renamed.stamp = capture("a").stamp
    intake.look([renamed], at: 61)
    #expect(intake.entries.keys.map(\.path) == ["/s/a"])
    var trouble = Failure(message: "gone", cause: .machine)
    trouble.isGone = true
    intake.end(old, .failed(trouble), nowSeconds: 62, "62")
    #expect(intake.entries.keys.map(\.path) == ["/s/b"])
    #expect(intake.state("b") == .arriving)
    intake.look([renamed], at: 63)
    intake.answerAll(.queued)
    #expect(intake.state("b") == .queued)
    #expect(intake.disappeared.total == 0)
  }

  @Test(
    "A folder that is renamed twice while it is processed, with other files in between, is one capture",
    arguments: [false, true])
  func renamedTwiceAtWork(isKilled: Bool) throws {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    intake.look([capture("a")], at: 60)
    intake.answerAll(.queued)
    let old = CaptureLocation("/s/a")
    intake.start(old, nowSeconds: 0)
    func elsewhere(_ name: String, _ text: String) -> StagingSnapshot.Seen {
      var seen = capture(name)
      seen.stamp = FolderSignature(text: text)
      return seen
    }
    intake.look([elsewhere("b", "a 1")], at: 61)
    // A restored backup: nothing of it is as it was when its run began.
    intake.look([elsewhere("b", "restored")], at: 62)
    if isKilled {
      let records = FirstSeenRecords(intake.entries.values)
      var record = WatchRecord(
        staging: "/s", started: "1", lastLook: "62",
        waiting: [.init(id: "a", family: "strabo", path: "/s/a", state: .running, since: "0")])
      record.known = 1
      intake = IntakeState(usual, previous: record)
      intake.take(
        snapshot(of: [elsewhere("c", "restored")]), nowSeconds: 63, nowText: "63",
        recorded: records.known(boot: records.boot, nowSeconds: 63, now: .now),
        folderID: { _ in nil }, nearestFolder: { _ in FileID(device: 1, inode: 1) })
    } else {
      intake.look([elsewhere("c", "restored")], at: 63)
      #expect(intake.entries.keys.map(\.path) == ["/s/a"])
      var trouble = Failure(message: "gone", cause: .machine)
      trouble.isGone = true
      intake.end(old, .failed(trouble), nowSeconds: 64, "64")
    }
    intake.look([elsewhere("c", "restored")], at: 400)
    #expect(intake.entries.keys.map(\.path) == ["/s/c"])
    #expect(intake.disappeared.total == 0)
  }

  @Test(
    "What lacks files is processed after the patience, and at once when the sender says that it is whole"
  )
  func patience() {
    for isMarked in [false, true] {
      var intake = IntakeState(usual)
      intake.look([capture("a")], at: 0)
      intake.look([capture("a")], at: 60)
      intake.answerAll(.incomplete(missing: ["x"]))
      #expect(intake.state() == .incomplete)
      var later = capture("a")
      later.mark.isComplete = isMarked
      intake.look([later], at: 599)
      #expect(intake.state() == (isMarked ? .queued : .incomplete))
      intake.look([later], at: 600)
      #expect(intake.state() == .queued)
    }
  }

  @Test("An answer about files that have changed meanwhile is worth nothing")
  func lateAnswer() {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    let questions = intake.questions
    intake.look([capture("a", "2")], at: 1)
    for var answer in questions {
      answer.phase = .done()
      intake.answer(answer)
    }
    #expect(intake.state() == .arriving)
  }

  @Test("An empty mount point is not: all captures are gone")
  func unmounted() {
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    var empty = snapshot(of: [])
    empty.folderID = FileID(device: 9, inode: 1)
    intake.take(empty, nowSeconds: 30, nowText: "30")
    #expect(intake.stagingTrouble != nil)
    #expect(intake.state() == .arriving)
    #expect(intake.disappeared.total == 0)
    intake.look([capture("a")], at: 60)
    #expect(intake.stagingTrouble == nil)
    #expect(intake.state() == .arriving)
  }

  @Test("A disk below STAGING that is not mounted takes no capture with it")
  func unmountedBelow() {
    var intake = IntakeState(usual)
    var onDisk = capture("a", in: "/s/usb")
    onDisk.folderID = FileID(device: 7, inode: 2)
    intake.take(
      snapshot(of: [onDisk, capture("b")]), nowSeconds: 0, nowText: "0",
      folderID: { _ in nil },
      nearestFolder: { _ in nil })
    intake.look([capture("b")], at: 30)
    #expect(intake.missingDisk != nil)
    // The others go on; those on the disk neither come to rest nor are started.
    #expect(intake.stagingTrouble == nil)
    intake.look([capture("b")], at: 90)
    #expect(intake.questions.map(\.recognition?.id) == ["b"])
    #expect(intake.entries.count == 2)
    #expect(intake.disappeared.total == 0)
  }

  @Test(
    "What went before it was done has disappeared; what was done, or is seen under another name, has not"
  )
  func gone() {
    var intake = IntakeState(usual)
    intake.look([capture("a"), capture("b"), capture("c")], at: 0)
    for var answer in intake.questions {
      if answer.recognition?.id == "b" { answer.phase = .done() }
      intake.answer(answer)
    }
    // The files of c under another name.
    var renamed = capture("d")
    renamed.stamp = FolderSignature(text: "c 1")
    intake.look([renamed], at: 30)
    #expect(intake.entries.count == 1)
    // Not at once: it may turn up elsewhere.
    #expect(intake.disappeared.last.isEmpty)
    intake.look([renamed], at: 150)
    #expect(intake.disappeared.last.map(\.id) == ["a"])
    #expect(intake.takeDisappeared().map(\.path) == ["/s/a"])
    #expect(intake.takeDisappeared().isEmpty)
    #expect(intake.disappeared.total == 1)
  }

  @Test("Memory is bounded by what is there: what is done and removed leaves nothing")
  func bounded() {
    var intake = IntakeState(usual)
    for round in 0..<2_000 {
      intake.look([capture("c\(round)")], at: Double(round))
      intake.answerAll(.done())
    }
    #expect(intake.entries.count == 1)
    #expect(intake.disappeared.total == 0)
  }

  @Test(
    "What changes while it runs is judged again when it ends, and so is what ran by rules that hold no longer"
  )
  func changedMeanwhile() {
    var intake = IntakeState(usual)
    let location = CaptureLocation("/s/a")
    func run() {
      intake.look([capture("a")], at: 0)
      intake.look([capture("a")], at: 60)
      intake.answerAll(.queued)
      intake.start(location, nowSeconds: 0)
      #expect(intake.state() == .running)
    }
    run()
    intake.look([capture("a", "2")], at: 61)
    #expect(intake.state() == .running)
    intake.end(location, .done(), nowSeconds: 61, "now")
    #expect(intake.state() == .arriving)

    intake = IntakeState(usual)
    run()
    intake.judgeAgain()
    intake.end(location, .done(), nowSeconds: 61, "now")
    #expect(intake.questions.map(\.mayOpen) == [true])
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
    var intake = IntakeState(usual, previous: record)
    var empty = snapshot(of: [])
    empty.isEmpty = true
    intake.take(empty, nowSeconds: 0, nowText: "0")
    #expect(intake.stagingTrouble?.contains("3 captures") == true)
    #expect(intake.disappeared.total == 0)
    intake.look([capture("a")], at: 1)
    #expect(intake.disappeared.last.map(\.id) == ["b"])
  }

  @Test("Notes of arrivals that are cut short, or of another version, are no notes")
  func damagedNotes() throws {
    let folder = try TemporaryFolder()
    var intake = IntakeState(usual)
    intake.look([capture("a")], at: 0)
    let notes = folder.path.appending(".scanmill")
    try FileSystem.makeFolder(notes)
    let file = notes.appending(OutputNames.firstSeen)
    func known() -> Int {
      FirstSeenRecords.known(inOutput: folder.path, nowSeconds: 1_000_000_000).count
    }
    var records = FirstSeenRecords(intake.entries.values)
    let bytes = try JSONText.canonical(records)
    try OutputFile.write(bytes, to: file)
    #expect(known() == 1)
    // The last byte ends a line.
    for count in 0..<bytes.count - 1 {
      try OutputFile.write(Array(bytes.prefix(count)), to: file)
      #expect(known() == 0, "\(count) bytes")
    }
    records.schema = 2
    try OutputFile.write(JSONText.canonical(records), to: file)
    #expect(known() == 0)
  }
}
