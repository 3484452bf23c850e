@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What an error means: side and error number to exit code and cause")
struct FailureTableTests {
  struct Row: Sendable {
    var side: FailureSide
    var numbers: [Errno]
    var exit: Int
    var cause: FailureCause
    var mayPass = false
    var isShortage = false
  }

  private static let rows: [Row] = [
    // Output: whatever it is, results cannot be written there.
    Row(
      side: .output,
      numbers: [
        .noSpace, .diskQuotaExceeded, .fileTooLarge, .readOnlyFileSystem, .permissionDenied,
        .notPermitted, .noSuchFileOrDirectory, .notDirectory, .improperLink, .fileExists,
        .directoryNotEmpty, .isDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong,
        .invalidArgument,
      ], exit: 73, cause: .machine),
    Row(
      side: .output,
      numbers: [
        .ioError, .staleNFSFileHandle, .noSuchAddressOrDevice, .timedOut, .networkDown, .hostIsDown,
        .resourceBusy, .interrupted,
      ], exit: 73, cause: .machine, mayPass: true),
    // Input: out of reach is the machine's, of another kind than it must be the capture's.
    Row(
      side: .input,
      numbers: [.noSuchFileOrDirectory, .notDirectory], exit: 1, cause: .machine),
    Row(side: .input, numbers: [.permissionDenied, .notPermitted], exit: 1, cause: .permission),
    Row(
      side: .input,
      numbers: [.ioError, .staleNFSFileHandle, .timedOut, .noRouteToHost, .resourceBusy],
      exit: 1, cause: .machine, mayPass: true),
    Row(
      side: .input,
      numbers: [.isDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong, .invalidArgument],
      exit: 1, cause: .input),
    // Somebody's program that cannot be started.
    Row(
      side: .program,
      numbers: [.noSuchFileOrDirectory, .permissionDenied, .execFormatError, .argListTooLong],
      exit: 1, cause: .program),
    Row(
      side: .program, numbers: [.ioError, .textFileBusy], exit: 1, cause: .machine, mayPass: true),
    // Ourselves: what makes no sense is a mistake of ours.
    Row(
      side: .ourselves, numbers: [.invalidArgument, .badFileDescriptor, .badAddress], exit: 70,
      cause: .program),
    Row(side: .output, numbers: [.badFileDescriptor, .badAddress], exit: 70, cause: .program),
    Row(side: .input, numbers: [.badFileDescriptor], exit: 70, cause: .program),
    Row(
      side: .ourselves, numbers: [.noSuchFileOrDirectory, .permissionDenied], exit: 1,
      cause: .machine),
  ]

  @Test("Every row of the table", arguments: rows.indices)
  func row(number: Int) {
    let row = Self.rows[number]
    for errno in row.numbers {
      let failure = FailureTable.failure(row.side, errno)
      #expect(failure.exit == row.exit, "\(row.side) \(errno)")
      #expect(failure.cause == row.cause, "\(row.side) \(errno)")
      #expect(failure.mayPass == row.mayPass, "\(row.side) \(errno)")
      #expect(failure.isShortage == row.isShortage, "\(row.side) \(errno)")
    }
  }

  @Test("What is short is short on every side: it waits, and is never the output's fault")
  func shortage() {
    for side in FailureSide.allCases {
      for errno in [
        Errno.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory,
        .resourceTemporarilyUnavailable,
      ] {
        let failure = FailureTable.failure(side, errno)
        #expect(failure.exit == 1 && failure.cause == .machine && failure.isShortage)
        #expect(failure.detail == FailureDetail(.shortage, number: Int(errno.rawValue)))
      }
    }
  }

  @Test("No error number is in two groups, and every group has a failure on every side")
  func whole() {
    let all = FailureTable.Group.members.flatMap(\.1)
    #expect(Set(all).count == all.count)
    for side in FailureSide.allCases {
      for group in FailureTable.Group.allCases {
        #expect([1, 70, 73].contains(FailureTable.failure(side, group).exit))
      }
    }
  }

  @Test(
    "The path tells the side, and where it does not, what was tried",
    arguments: [
      ("/out/a/color/x", "read", FailureSide.output), ("/in/a/x", "write", .input),
      ("/elsewhere", "write", .output), ("/elsewhere", "read", .input),
      ("/usr/bin/ls", "start", .program), ("pipe", "make", .ourselves),
    ] as [(FilePath, String, FailureSide)])
  func side(path: FilePath, operation: String, side: FailureSide) {
    let judge = FailureClassifier(output: "/out", capture: "/in/a")
    #expect(judge.side(of: FileError(.ioError, path: path, operation: operation)) == side)
  }

  @Test("Damage is the capture's fault while that is there, and the machine's once it is gone")
  func damage() throws {
    struct Damage: ContentError {
      var contentFile: FilePath?
      var correction: String?
    }
    let folder = try TemporaryFolder()
    let here = FailureClassifier(output: "/out", capture: folder.path)
    #expect(here.failure(Damage()).detail == FailureDetail(.damaged))
    #expect(here.failure(Damage()).cause == .input && here.failure(Damage()).exit == 1)
    let table = Damage(contentFile: "/in/a/imu.csv", correction: "name the columns")
    #expect(
      here.failure(table).detail
        == FailureDetail(.unlikeTheApp, file: "imu.csv", remedy: "name the columns"))
    #expect(here.failure(Damage(contentFile: "/out/a/color/1.png")).cause == .program)
    let gone = FailureClassifier(output: "/out", capture: folder.path.appending("gone"))
    #expect(gone.failure(Damage()).cause == .machine)
    #expect(here.failure(StageFailure("no", isTemporary: true)).mayPass)
    #expect(here.failure(StageFailure("no", cause: .input)).cause == .input)
    #expect(here.failure(FailureTests.Broken()).cause == .program)
    #expect(here.failure(StageFailure("no", cause: .input)).detail?.code == .unsuitable)
    let ours = here.failure(InternalError("1 of 2"))
    #expect(ours.exit == 70 && ours.cause == .program)
    #expect(ours.detail == FailureDetail(.internalError))
  }

  @Test(
    "How a process ended tells what helps: a kill of memory, another signal of a crash",
    arguments: [
      (.exited(0), nil), (.exited(3), .programFailed), (.exited(127), .noProgram),
      (.exited(137), .killed), (.killed(signal: 9), .killed), (.killed(signal: 15), .terminated),
      (.killed(signal: 11), .crashed), (.killed(signal: 6), .crashed),
      (.killed(signal: 7), .crashed),
    ] as [(ProcessEnd.Way, FailureDetail.Code?)])
  func ends(way: ProcessEnd.Way, code: FailureDetail.Code?) {
    #expect(FailureDetail(way)?.code == code)
  }

  @Test(
    "A foreign folder, a full disk and a limit of a stage are told apart, whatever their words",
    arguments: [
      (FileError.notOurs("/out/a/color", "is not ours"), .program, .notOurs, 73),
      (FileError(.noSpace, path: "/out/a", operation: "write"), .machine, .diskFull, 73),
      (FileError(.ioError, path: "/in/a/x", operation: "read"), .machine, .deviceError, 1),
      (
        FileError(
          kind: .changedWhileReading, path: "/in/a/x", operation: "read", reason: "changed"),
        .machine, .inputChanged, 1
      ),
      (CancelledError(reason: "took longer", limit: .outOfTime), .program, .outOfTime, 1),
      (StageFailure("killed", detail: FailureDetail(.killed)), .program, .killed, 1),
    ] as [(any Error, FailureCause, FailureDetail.Code, Int)])
  func details(error: any Error, cause: FailureCause, code: FailureDetail.Code, exit: Int) {
    let failure = FailureClassifier(output: "/out", capture: "/in/a").failure(error)
    #expect(failure.cause == cause && failure.detail?.code == code && failure.exit == exit)
  }

  @Test("The gravest of several exit codes wins")
  func gravest() {
    let order = [130, 143, 70, 73, 75, 1, 0]
    for (rank, code) in order.enumerated() {
      #expect(ExitStatus.gravest(order[rank...].reversed()) == code)
    }
    #expect(ExitStatus.gravest([]) == 0)
    // What is no code of a run is not hidden by one.
    #expect(ExitStatus.gravest([73, 64]) == 64)
  }

  @Test("What a later attempt may cure decides for a capture that failed for several reasons")
  func deciding() {
    #expect(FailureCause.deciding([.input, .program, .machine]) == .machine)
    #expect(FailureCause.deciding([.input, .program]) == .program)
    #expect(FailureCause.deciding([.input]) == .input)
    #expect(FailureCause.deciding([]) == nil)
  }
}
