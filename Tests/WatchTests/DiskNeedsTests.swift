@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

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
