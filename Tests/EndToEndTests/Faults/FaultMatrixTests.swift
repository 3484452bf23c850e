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
        ("opendir", "/out/a/.scanmill", .permissionDenied, .once),
        ("opendir", "/out/a/tables", .permissionDenied, .always),
      ]),
    Case(
      .clean, .output,
      [
        ("readdir", "/out", .ioError, .always), ("lookup", "/out/a/.scanmill", .ioError, .always),
        ("lookup", "/out/a", .permissionDenied, .always),
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

/// One entry of the matrix: a call on a file, and how it fails.
struct FaultCell: CustomStringConvertible {
  enum Manner: String, CaseIterable {
    case always, once
    /// The first is done, and its answer is lost: it says that it failed.
    case answer
  }

  var call: String
  /// A pattern of paths.
  var place: String
  var error: Errno
  var manner: Manner

  var description: String { "\(call) \(place) \(Self.name(error)) \(manner)" }

  /// The numbers that a call can give, those of real disks, networks and limits.
  static let errors: [String: [Errno]] = [
    "lookup": [.ioError, .staleNFSFileHandle, .permissionDenied],
    "getattr": [.ioError, .staleNFSFileHandle],
    "opendir": [.ioError, .staleNFSFileHandle, .permissionDenied, .tooManyOpenFiles],
    "readdir": [.ioError, .staleNFSFileHandle],
    "open": [
      .ioError, .staleNFSFileHandle, .permissionDenied, .tooManyOpenFiles, .interrupted, .timedOut,
    ],
    "read": [.ioError, .staleNFSFileHandle, .timedOut, .interrupted],
    "create": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle, .tooManyOpenFiles, .fileNameTooLong, .interrupted,
    ],
    "write": [
      .ioError, .noSpace, .diskQuotaExceeded, .fileTooLarge, .staleNFSFileHandle, .interrupted,
    ],
    "fsync": [.ioError, .noSpace, .diskQuotaExceeded, .staleNFSFileHandle],
    // Some disks know no flush of a folder, which is no failure.
    "fsyncdir": [.ioError, .staleNFSFileHandle, .invalidArgument],
    "rename": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle,
    ],
    "mkdir": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle,
    ],
    "unlink": [.ioError, .readOnlyFileSystem, .permissionDenied, .resourceBusy],
    "rmdir": [.ioError, .readOnlyFileSystem, .resourceBusy],
    "link": [.ioError, .noSpace, .notPermitted, .tooManyLinks],
    "truncate": [.ioError, .noSpace],
    "fallocate": [.ioError, .noSpace, .diskQuotaExceeded, .notSupportedOnSocket],
    // Where a network disk tells what it could not write.
    "close": [.ioError, .noSpace, .diskQuotaExceeded],
    "statfs": [.ioError, .staleNFSFileHandle],
    "chmod": [.ioError, .notPermitted],
    "utimes": [.ioError, .notPermitted],
    "copy": [.ioError, .noSpace],
  ]

  /// Calls that change something.
  static let changes: Set<String> = [
    "create", "write", "fsync", "fsyncdir", "rename", "mkdir", "unlink", "rmdir", "link",
    "truncate", "fallocate", "close", "chmod", "utimes", "copy",
  ]

  /// Calls whose answer may be lost after they were carried out, as by a server that went away.
  private static let answered: Set<String> = [
    "create", "rename", "mkdir", "unlink", "rmdir", "link",
  ]

  /// Cells of what was called below `folder`: each call of each file that has a name of its own, with the first number
  /// of the call and another one, so that all numbers come up with some file.
  static func all(of calls: [(call: String, path: String)], below folder: String) -> [FaultCell] {
    // A file that was only read is closed without a word by every disk.
    let written = Set(calls.filter { $0.call == "create" || $0.call == "write" }.map(\.path))
    var seen: Set<String> = []
    var places: [String: Int] = [:]
    var cells: [FaultCell] = []
    for (call, path) in calls where path.hasPrefix(folder) && !path.hasSuffix(" (deleted)") {
      let place = pattern(path)
      guard call != "close" || written.contains(path),
        seen.insert("\(call) \(place)").inserted
      else { continue }
      let numbers = errors[call] ?? []
      let count = places[call, default: 0]
      places[call] = count + 1
      for error in numbers.prefix(1)
        + (numbers.count > 1 ? [numbers[1 + count % (numbers.count - 1)]] : [])
      {
        for manner in Manner.allCases {
          let isPossible =
            switch manner {
            // Who is interrupted tries again.
            case .always: error != .interrupted
            case .once: true
            case .answer: error == .ioError && answered.contains(call)
            }
          guard isPossible else { continue }
          cells.append(FaultCell(call: call, place: place, error: error, manner: manner))
        }
      }
    }
    return cells
  }

  /// Numbers of runs, processes and frames differ from one time to the next.
  private static func pattern(_ path: String) -> String {
    path
      .replacing(#/[0-9]{8}T[0-9]{6}-[0-9a-z-]+/#, with: "*")
      .replacing(#/claim-[^/]*/#, with: "claim-*")
      .replacing(#/\.[0-9a-z]+-[0-9a-z-]+\.new/#, with: ".*.new")
      .replacing(#/[0-9A-F]{8}-[0-9A-F-]{27}/#, with: "*")
      .replacing(#/[0-9a-f]{16,}/#, with: "*")
      .replacing(#/[0-9]{4,}/#, with: "*")
  }

  static func name(_ error: Errno) -> String {
    names[error] ?? "errno \(error.rawValue)"
  }

  private static let names: [Errno: String] = [
    .ioError: "EIO", .staleNFSFileHandle: "ESTALE", .permissionDenied: "EACCES",
    .tooManyOpenFiles: "EMFILE", .interrupted: "EINTR", .timedOut: "ETIMEDOUT", .noSpace: "ENOSPC",
    .diskQuotaExceeded: "EDQUOT", .readOnlyFileSystem: "EROFS", .fileNameTooLong: "ENAMETOOLONG",
    .fileTooLarge: "EFBIG", .invalidArgument: "EINVAL", .resourceBusy: "EBUSY",
    .notPermitted: "EPERM", .tooManyLinks: "EMLINK", .notSupportedOnSocket: "EOPNOTSUPP",
  ]

  /// What some disks cannot do is done without.
  var isHarmless: Bool {
    call == "fsyncdir" && error == .invalidArgument
      || call == "fallocate" && error == .notSupportedOnSocket
  }

  /// Whether a text tells of the error. What is read from a mapped file and fails gives a signal, and no number.
  func isTold(in text: String) -> Bool {
    let text = text.lowercased()
    if call == "read", text.contains("ended by sigbus") { return true }
    return
      ([String(cString: strerror(error.rawValue)).lowercased()] + (Self.otherWords[error] ?? []))
      .contains { text.contains($0) }
  }

  /// A watcher takes whatever keeps files from being written for a lack of space.
  private static let space = [
    "no space left", "quota", "disk of this server is full", "disk of the output is full",
    "disk of the output became full",
  ]

  private static let otherWords: [Errno: [String]] = [
    .noSpace: space, .diskQuotaExceeded: space, .fileTooLarge: space,
    .readOnlyFileSystem: ["read-only"], .interrupted: ["interrupted"],
  ]
}

extension Program {
  /// How a program has ended, with all that it and a receiver beside it said.
  struct Outcome {
    var status: Int32
    var text: String
    /// The receiver ended otherwise than told to.
    var trouble = ""
    var isDone: Bool { status == 0 && trouble.isEmpty }
  }

  /// Runs to the end. One that hangs ends with 124.
  static func bounded(_ words: String...) throws -> Outcome {
    let result = try Running(
      "/usr/bin/timeout", ["-k", "5", "100", path.string] + words, in: nil
    ).finish()
    return Outcome(status: result.status, text: result.output + result.errors)
  }

  /// With a receiver on a folder, whose address `body` is given. One that does not listen has told why.
  static func receiving(
    into folder: FilePath, _ body: (String) throws -> Outcome
  ) throws -> Outcome {
    let receiver = try Running(
      path, ["receive", folder.string, "--listen", "127.0.0.1:0", "--reserve", "0"],
      in: nil)
    var address: String?
    _ = try Waiting.until("the receiver to listen or to end") {
      let said = try receiver.outputSoFar()
      address = said.firstMatch(of: #/listening on (http:\S+)\n/#).map { String($0.1) }
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
      return address != nil || !receiver.process.isRunning
    }
    guard let address else {
      let ended = try receiver.finish()
      return Outcome(status: ended.status, text: ended.errors)
    }
    var outcome = try body(address)
    kill(receiver.process.processIdentifier, SIGTERM)
    let ended = try receiver.finish()
    outcome.text += ended.errors
    if ended.status != 143 { outcome.trouble = "the receiver ended with \(ended.status)" }
    return outcome
  }
}
