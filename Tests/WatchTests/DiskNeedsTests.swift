import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Watch

@Suite("How much of the disk captures need")
struct DiskNeedsTests {
  private static let mib: Int64 = 1 << 20

  private static func place(_ name: String) -> CaptureLocation {
    CaptureLocation(FilePath("/s").appending(name))
  }

  private static func free(_ mib: Int64) -> FreeSpaceRule {
    FreeSpaceRule(bytes: mib * Self.mib, totalBytes: 1000 * Self.mib)
  }

  @Test("What is at work counts, until it has ended")
  func claims() {
    var needs = DiskNeeds()
    let (free, needed) = (Self.free(250), 100 * Self.mib)
    needs.begin(Self.place("a"), needed: needed, in: free)
    #expect(needs.fits(needed, in: free))
    needs.begin(Self.place("b"), needed: needed, in: free)
    #expect(!needs.fits(needed, in: free))
    #expect(DiskNeeds.fitsAlone(needed, in: free))
    needs.end(Self.place("a"))
    #expect(needs.fits(needed, in: free))
  }

  @Test("What is larger than the disk is tried once nearly all of it is free")
  func tooLarge() {
    #expect(!DiskNeeds.fitsAlone(5000 * Self.mib, in: Self.free(800)))
    #expect(DiskNeeds.fitsAlone(5000 * Self.mib, in: Self.free(950)))
  }

  @Test(
    "A disk that is nearly all free and takes nothing, as with a quota, is left alone for a time")
  func spent() {
    for (free, isSpent) in [(950, true), (800, false)] {
      var needs = DiskNeeds()
      needs.begin(Self.place("a"), needed: 0, in: Self.free(Int64(free)))
      needs.ranOut(Self.place("a"), family: "scannet", bytes: Self.mib, untilSeconds: 60)
      #expect(needs.isSpent(family: "scannet", atSeconds: 59) == isSpent)
      #expect(!needs.isSpent(family: "scannet", atSeconds: 61))
      #expect(!needs.isSpent(family: "strabo", atSeconds: 59))
    }
  }

  @Test(
    "After a capture for which the disk was too small more is waited for: until there is, one is done, or a time has passed"
  )
  func lesson() {
    var needs = DiskNeeds()
    func needed(_ now: Double) -> Int64 {
      needs.needed(family: "scannet", bytes: 10 * Self.mib, atSeconds: now) / Self.mib
    }
    needs.begin(Self.place("a"), needed: 0, in: Self.free(80))
    needs.ranOut(Self.place("a"), family: "scannet", bytes: 10 * Self.mib, untilSeconds: 900)
    #expect(needed(1) == 100)
    #expect(!DiskNeeds.fitsAlone(needed(1) * Self.mib, in: Self.free(80)))
    #expect(needed(900) == 0)
    needs.done(Self.place("b"), family: "scannet")
    #expect(needed(1) == 0)
  }

  @Test("Of several at work each had its part of the disk")
  func lessonOfSeveral() {
    var needs = DiskNeeds()
    for name in ["a", "b"] { needs.begin(Self.place(name), needed: 0, in: Self.free(80)) }
    needs.ranOut(Self.place("a"), family: "scannet", bytes: 10 * Self.mib, untilSeconds: 900)
    let found = needs.needed(family: "scannet", bytes: 10 * Self.mib, atSeconds: 1)
    #expect(found == 50 * Self.mib)
  }

  private static func report(
    _ stages: [(RunOutcome, FailureDetail.Code?)], _ code: FailureDetail.Code? = nil
  ) -> CaptureReport {
    var report = CaptureReport(
      id: "a", path: "/s/a", family: "scannet", outcome: .failed,
      why: Failure(message: "no space left", detail: code.map { FailureDetail($0) }))
    report.stages = stages.map { outcome, code in
      var stage = StageReport(stage: "x", uses: "x", outcome: outcome)
      stage.why.detail = code.map { FailureDetail($0) }
      return stage
    }
    return report
  }

  @Test("Only what failed for the disk alone waits for it")
  func ranOut() {
    let told: [(CaptureReport, Bool)] = [
      (Self.report([(.failed, .diskFull), (.blocked, nil)]), true),
      (Self.report([], .diskFull), true),
      (Self.report([(.failed, .diskFull), (.failed, .programFailed)]), false),
      (Self.report([(.failed, .deviceError)]), false),
      (Self.report([(.failed, nil)]), false),
    ]
    for (report, isOfDisk) in told { #expect(report.ranOutOfDisk == isOfDisk, "\(report)") }
  }
}

@Suite("Room for the next page on a disk that is full")
struct DiskReserveTests {
  private static let mib: Int64 = 1 << 20

  @Test("Files twice and a margin, no more than 64 MiB and a sixteenth of the disk")
  func wanted() {
    for (files, total, wanted) in [
      (0, 1000, 4), (3, 1000, 10), (100, 10_000, 64), (3, 80, 5), (Int64.max >> 20, 10_000, 64),
    ] as [(Int64, Int64, Int64)] {
      let found = DiskReserve.wantedBytes(files: files * Self.mib, totalBytes: total * Self.mib)
      #expect(found == wanted * Self.mib, "\(files) of \(total)")
    }
  }

  private static func file(_ output: FilePath) -> FilePath {
    output.appending(".scanmill").appending("reserve")
  }

  private static func made() throws -> (TemporaryFolder, DiskReserve) {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending(".scanmill"))
    return (folder, DiskReserve(output: folder.path))
  }

  private static let roomy = FreeSpaceRule(bytes: 1000 * mib, totalBytes: 4000 * mib)

  @Test("It is given up for what finds the disk full, taken again afterwards, and goes at the end")
  func givenUp() throws {
    let (folder, reserve) = try Self.made()
    let file = Self.file(folder.path)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 0))
    #expect(reserve.heldBytes == DiskReserve.marginBytes)
    #expect(FileStamp(of: file)?.bytes == DiskReserve.marginBytes)
    #expect(!reserve.take(of: Self.roomy, nowSeconds: 1))
    var tries = 0
    let written: Bool = try reserve.writing {
      tries += 1
      if FileSystem.exists(file) { throw FileError(.noSpace, path: file, operation: "write") }
      // Nobody takes it while it is used.
      #expect(!reserve.take(of: Self.roomy, nowSeconds: 2))
      return true
    }
    #expect(written && tries == 2)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 3))
    reserve.giveUp()
    #expect(!FileSystem.exists(file))
  }

  @Test("Other trouble does not give it up; without it the first error stands")
  func kept() throws {
    let (folder, reserve) = try Self.made()
    let full = FileError(.noSpace, path: folder.path, operation: "write")
    #expect(throws: FileError.self) { try reserve.writing { throw full } }
    #expect(reserve.using { 1 } == nil)
    _ = reserve.take(of: Self.roomy, nowSeconds: 0)
    let other = FileError(.ioError, path: folder.path, operation: "write")
    #expect(throws: FileError.self) { try reserve.writing { throw other } }
    #expect(FileSystem.exists(Self.file(folder.path)))
    #expect(reserve.using { 1 } == 1)
  }

  @Test("What is free is taken where not all of it is")
  func partial() throws {
    let (_, reserve) = try Self.made()
    let nearly = FreeSpaceRule(bytes: 1 * Self.mib, totalBytes: 4000 * Self.mib)
    #expect(reserve.take(of: nearly, nowSeconds: 0))
    #expect(reserve.heldBytes == 1 * Self.mib)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 1))
    #expect(reserve.heldBytes == DiskReserve.marginBytes)
  }
}

@Suite("When nothing new is started")
struct PauseTrackerTests {
  @Test("Of several reasons the first of staging, output, disk and window is given")
  func order() {
    let reasons: [WatchState.PauseReason?] = [.staging, .output, .disk, .window, nil]
    for (index, reason) in reasons.enumerated() {
      let found = PauseTracker.reason(
        staging: index <= 0, output: index <= 1, disk: index <= 2, window: index <= 3)
      #expect(found == reason)
    }
  }

  @Test("Of a small disk too it is told how much is free and how much must be")
  func space() {
    let text = PauseTracker.text(FreeSpaceRule(bytes: 500_000, totalBytes: 60_000_000))
    #expect(text.contains("500 kB are free") && text.hasSuffix("until 1.20 MB are"), "\(text)")
  }

  @Test("Of what does not fit it is told what it needs, how much is free, and how much stays free")
  func tooLarge() {
    let free = FreeSpaceRule(bytes: 4_210_000, totalBytes: 9_000_000, reserve: 1_000_000)
    #expect(
      PauseTracker.text(free, ("a", 4_180_000))
        == "the disk of the output is too full: a needs about 4.18 MB, 4.21 MB are free, of which 1.00 MB stay free"
    )
  }

  @Test("A period begins with a reason, ends with the next one, and is noted once")
  func periods() {
    var periods = PausePeriods()
    let kinds = [nil, "disk", "disk", "window", nil]
    let changes = kinds.enumerated().map { index, kind in
      periods.note(kind) { "\(index + 1)" }.map { "\($0.ended ?? "-") \($0.begun ?? "-")" }
    }
    #expect(changes == [nil, "- disk", nil, "disk window", "window -"])
    #expect(periods.periods.map(\.kind) == ["disk", "window"])
    #expect(periods.periods.map(\.from) == ["2", "4"])
    #expect(periods.periods.map(\.to) == ["4", "5"])
  }

  @Test("A period that the last watcher left open goes on")
  func resumed() {
    var periods = PausePeriods([WatchRecord.PauseReason(kind: "disk", from: "1")])
    let same = periods.note("disk", time: { "2" })
    #expect(same?.begun == nil && same?.ended == nil)
    _ = periods.note(nil, time: { "3" })
    #expect(periods.periods.map(\.to) == ["3"])
  }

  @Test("The last 200 are kept")
  func most() {
    var periods = PausePeriods()
    for number in 0..<250 { _ = periods.note(number % 2 == 0 ? "disk" : "window") { "\(number)" } }
    #expect(periods.periods.count == 200)
    #expect(periods.periods.first?.from == "50")
    #expect(periods.periods.filter { $0.to == nil }.map(\.from) == ["249"])
  }
}

/// What is told of files that cannot be written: at once, again and again, not at every look.
struct WriteFailuresTests {
  @Test func `a failure is told at once and then with pauses that double up to an hour`() {
    var troubles = WriteFailures()
    var told: [Double] = []
    // A look a second for six hours.
    for second in 0..<21_600
    where troubles.failed(.metrics, "--metrics", "no folder", nowSeconds: Double(second)) != nil {
      told.append(Double(second))
    }
    #expect(Array(told.prefix(5)) == [0, 10, 30, 70, 150])
    let pauses = zip(told, told.dropFirst()).map { $1 - $0 }
    #expect(pauses.max() == 3600)
    #expect(told.count > 10 && told.count < 20)
    #expect(troubles.count(.metrics) == 21_600)
    #expect(troubles.areFailing)
  }

  @Test func `what is told says how often`() {
    var troubles = WriteFailures()
    #expect(
      troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 0) == "watch.json: disk full")
    #expect(troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 1) == nil)
    #expect(
      troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 11)
        == "watch.json: disk full (3 times in a row)")
    // Another reason is news.
    #expect(troubles.failed(.notes, "watch.json", "read-only", nowSeconds: 12) != nil)
    #expect(
      troubles.succeeded(.notes, "watch.json")
        == "watch.json: can be written again, after 4 failures")
    #expect(!troubles.areFailing)
    #expect(troubles.succeeded(.notes, "watch.json") == nil)
    #expect(troubles.count(.notes) == 4)
    #expect(troubles.count(.metrics) == 0)
    #expect(troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 13) != nil)
  }

  @Test func `each file has a count of its own`() {
    var troubles = WriteFailures()
    _ = troubles.failed(.notes, "watch.json", "x", nowSeconds: 0)
    #expect(troubles.failed(.notes, "looks.json", "x", nowSeconds: 0) != nil)
    _ = troubles.succeeded(.notes, "looks.json")
    #expect(troubles.areFailing)
    #expect(troubles.count(.notes) == 2)
  }
}

@Suite("Room on the disk")
struct FreeSpaceRuleTests {
  private static let GiB: Int64 = 1 << 30

  @Test(
    "is enough from 1 GiB or 2 %, whichever is less",
    arguments: [
      (GiB, 1000 * GiB, true), (GiB - 1, 1000 * GiB, false), (20 * GiB / 50, 20 * GiB, true),
      (20 * GiB / 50 - 1, 20 * GiB, false), (0, GiB, false), (0, 0, true),
      (Int64.max, Int64.max, true),
    ])
  func bytes(free: Int64, total: Int64, isEnough: Bool) {
    #expect(FreeSpaceRule(bytes: free, totalBytes: total).isEnough == isEnough)
  }

  @Test(
    "is enough from --reserve on, which captures leave alone as well",
    arguments: [(0, 10), (5 * GiB, 10), (5 * GiB, 4), (200 * GiB, 100)] as [(Int64, Int64)])
  func reserve(reserve: Int64, freeGiB: Int64) {
    let room = FreeSpaceRule(
      bytes: freeGiB * Self.GiB, totalBytes: 100 * Self.GiB, reserve: reserve)
    #expect(room.isEnough == (room.bytes >= reserve))
    #expect(!DiskNeeds.fitsAlone(room.bytes - reserve + 1, in: room))
    // What is larger than the disk is tried once nothing else is on it, however much is left alone.
    let empty = FreeSpaceRule(
      bytes: 100 * Self.GiB, totalBytes: 100 * Self.GiB, reserve: reserve)
    #expect(DiskNeeds.fitsAlone(.max, in: empty) == (reserve < empty.bytes))
  }

  @Test(
    "is enough with some inodes, or where none are counted",
    arguments: [
      (0, 1_000_000, false), (9_999, 1_000_000, false), (10_000, 1_000_000, true), (2, 100, true),
      (1, 100, false), (0, 10, false), (1, 10, true), (nil, nil, true),
    ] as [(Int64?, Int64?, Bool)])
  func inodes(free: Int64?, total: Int64?, isEnough: Bool) {
    let room = FreeSpaceRule(
      bytes: 2 * Self.GiB, totalBytes: 10 * Self.GiB, inodes: free, totalInodes: total)
    #expect(room.isEnough == isEnough)
  }

  @Test("is that of the file system, also for a folder that is not made yet")
  func free() throws {
    let folder = try TemporaryFolder()
    let there = try #require(FreeSpaceRule.free(of: folder.path))
    let later = try #require(FreeSpaceRule.free(of: folder.path.appending("a/b/c")))
    #expect(there.totalBytes == later.totalBytes && there.totalBytes > 0)
    #expect(there.bytes <= there.totalBytes)
    #expect(FreeSpaceRule.free(of: "") != nil)
    #expect(FreeSpaceRule.free(of: "no-such-folder/x") != nil)
    #expect(FreeSpaceRule.free(of: "/dev/null/x") == nil)
  }
}

@Suite("A worker that is nice")
struct NicenessTests {
  @Test("has the least priority with its threads, also those that exist, and so has what it starts")
  func lowered() async {
    await #expect(processExitsWith: .success) {
      let started = DispatchSemaphore(value: 0)
      let other = Mutex<UInt32>(0)
      let thread = Thread {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        other.withLock {
          $0 = own.flatMap { UInt32(FilePath($0).lastComponent?.string ?? "") } ?? 1
        }
        started.signal()
        sleep(600)
      }
      thread.start()
      started.wait()
      Niceness.lower()
      // This thread and our own: those of the test's runtime may raise themselves again, as root may.
      for id in [0, other.withLock { $0 }] {
        guard getpriority(__priority_which_t(0), id) == 19 else { exit(2) }
      }
      let child = try OtherPrograms.run("sh", ["-c", "nice; cat /proc/self/oom_score_adj"])
      guard child == "19\n1000\n" else { exit(3) }
      // A thread of a library that thinks itself important, also where root runs it.
      errno = 0
      guard setpriority(__priority_which_t(0), 0, -4) != 0, errno == EPERM || errno == EACCES
      else { exit(4) }
      if let text = try? OtherPrograms.run("ionice", ["-p", "\(other.withLock { $0 })"]) {
        guard text.hasPrefix("idle") else { exit(5) }
      }
      exit(0)
    }
  }
}
