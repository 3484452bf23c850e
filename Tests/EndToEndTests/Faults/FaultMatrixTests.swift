import Foundation
import SystemPackage
import TestSupport
import Testing

/// What verbs do on a disk whose calls fail. In every run of the tests: failures that something was wrong with once, and
/// one of each kind. In `make soak`: each call of each file, with each number that it can give.
@Suite(
  "Disks that fail at any call", .runsPrograms,
  .enabled(if: FaultyDisk.absence.isEmpty, "needs root and FUSE"))
struct FaultMatrixTests {
  struct Case: CustomTestStringConvertible {
    var verb: FaultScene.Verb
    var side: FaultScene.Side
    var family = "scannet"
    /// One of so many cells is tried; in `make soak` all are. 3: every third.
    var step = 1
    var few: [FaultCell]

    init(
      _ verb: FaultScene.Verb, _ side: FaultScene.Side, family: String = "scannet", step: Int = 1,
      _ few: [(call: String, place: String, Errno, FaultCell.Manner)] = []
    ) {
      (self.verb, self.side, self.family, self.step) = (verb, side, family, step)
      self.few = few.map { FaultCell(call: $0, place: $1, error: $2, manner: $3) }
    }

    var testDescription: String { "\(verb), \(side), \(family)" }
  }

  static let cases = [
    Case(
      .run, .input,
      [
        ("getattr", "/in", .ioError, .once), ("open", "/in/a/a.imu", .ioError, .once),
        ("open", "/in/a/a.depth", .permissionDenied, .once),
        ("read", "/in/a/a.h264", .staleNFSFileHandle, .always),
      ]),
    Case(
      .run, .output,
      [
        ("mkdir", "/out/.scanmill", .permissionDenied, .once),
        ("rename", "/out/a/.staging/tables.*", .ioError, .answer),
        ("open", "/out/a/aligned/*.png", .ioError, .always),
        ("lookup", "/out/a/aligned/*.png", .permissionDenied, .always),
        ("fsyncdir", "/out/a", .invalidArgument, .always),
      ]),
    Case(.watch, .input, [("readdir", "/in/a", .ioError, .always)]),
    // What it does beside `run` is little.
    Case(
      .watch, .output, step: 3,
      [
        ("create", "/out/a/.scanmill/lock", .diskQuotaExceeded, .always),
        ("opendir", "/out/a/tables", .permissionDenied, .always),
      ]),
    Case(
      .clean, .output,
      [
        ("readdir", "/out", .ioError, .always), ("lookup", "/out/a/.scanmill", .ioError, .always),
        ("unlink", "/out/a/.staging/*/*.png", .resourceBusy, .once),
      ]),
    Case(
      .send, .input,
      [
        ("readdir", "/in/a", .ioError, .once),
        ("getattr", "/in/a/a.depth", .staleNFSFileHandle, .once),
      ]),
    Case(
      .receive, .output,
      [
        ("write", "/out/.incoming/*.part", .noSpace, .once),
        ("getattr", "/out/.incoming/*.part", .ioError, .once),
        ("fsyncdir", "/out/a", .invalidArgument, .always),
      ]),
    Case(
      .restart, .output,
      [
        ("getattr", "/out", .ioError, .always), ("getattr", "/out/.lock", .ioError, .once),
        ("read", "/out/.incoming/5e.json", .ioError, .once),
        ("lookup", "/out/.incoming/5e.part", .ioError, .once),
        ("lookup", "/out/.incoming/5e.part", .permissionDenied, .once),
      ]),
  ]

  /// Captures of a video with tables, and of an archive.
  static let others = ["stray-scanner", "record3d"].flatMap { family in
    [Case(.run, .input, family: family), Case(.run, .output, family: family, step: 8)]
  }

  @Test(arguments: Rounds.isSoak ? cases + others : cases)
  func `the cause is told, nothing is lost, and what is well again goes on`(_ which: Case) throws {
    let scene = try FaultScene(which.verb, which.side, family: which.family)
    var cells = which.few
    if Rounds.isSoak {
      // A watcher tries again when rights change, and those of this disk do not.
      cells += scene.cells.enumerated().filter {
        $0.offset % which.step == 0
          && !(which.verb == .watch && which.side == .input
            && $0.element.error == .permissionDenied)
      }.map(\.element)
    }
    var tally = FaultScene.Tally()
    for cell in cells { try scene.check(cell, &tally) }
    print("disk that fails: \(which.testDescription): \(tally)")
    #expect(tally.violations.isEmpty, "\(tally.violations.joined(separator: "\n\n"))")
    // Workers and their files come in another order from one time to the next.
    #expect(Rounds.isSoak ? tally.unmet < cells.count / 10 : tally.unmet == 0)
  }
}
