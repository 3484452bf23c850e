import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster

@Suite("The log of submissions")
struct SubmissionLogTests {
  let folder: TemporaryFolder
  let held: HeldFolder

  init() throws {
    folder = try TemporaryFolder()
    held = try HeldFolder.following(folder.path)
  }

  static func submission(_ number: Int) -> Submission {
    var submission = Submission(
      number: number, name: "scanmill-R-\(number)", comment: "scanmill R", firstElement: 1000,
      count: 12, throttle: number == 2 ? nil : 3,
      request: JobRequest(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 2400),
      runFolder: FilePath(text: "/o \u{10FFFF}/runs/R"), output: "/o", program: "/lab/bin/scanmill",
      arguments: ["-v"])
    if number == 2 {
      submission.excludedNodes = ["n1"]
      submission.after = ["7"]
    }
    return submission
  }

  /// Three submissions: one taken, one refused, one of which nothing is known.
  func writeAll() throws -> [UInt8] {
    let log = try SubmissionLog(in: held)
    try log.intend(Self.submission(1))
    try log.accepted(1, job: "101")
    try log.intend(Self.submission(2))
    try log.gone(2, why: "Invalid partition name specified")
    try log.intend(Self.submission(3))
    return try #require(try held.contents(of: SubmissionLog.fileName))
  }

  @Test("What was intended, taken and refused comes back")
  func roundTrip() throws {
    _ = try writeAll()
    let history = try SubmissionLog.read(in: held)
    #expect(history.entries.map(\.submission) == [1, 2, 3].map(Self.submission))
    #expect(
      history.entries.map(\.state) == [
        .submitted(job: "101"), .gone("Invalid partition name specified"), .intended,
      ])
    #expect(history.entries.map(\.job) == ["101", nil, nil])
    #expect(history.nextNumber == 4)
  }

  @Test("Lines are maps that people can read")
  func lines() throws {
    let text = String(decoding: try writeAll(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 5 && text.hasSuffix("\n"))
    #expect(
      lines[0].hasPrefix(
        #"{"intent":{"after":[],"arguments":["-v"],"comment":"scanmill R","count":12,"#))
    #expect(lines[0].contains(#""output":"/o""#) && lines[0].hasSuffix(#""submission":1}"#))
    #expect(lines[1] == #"{"job":"101","submission":1}"#)
    #expect(lines[3] == #"{"gone":"Invalid partition name specified","submission":2}"#)
  }

  @Test("A log cut at any byte tells what its whole lines say")
  func cut() throws {
    let bytes = try writeAll()
    let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
    for count in 0...bytes.count {
      let history = SubmissionHistory(Array(bytes[..<count]))
      // A line that lacks only its end is whole.
      let whole = ends.count { $0 <= count }
      let states = [
        [], [SubmissionHistory.State.intended], [.submitted(job: "101")],
        [.submitted(job: "101"), .intended],
        [.submitted(job: "101"), .gone("Invalid partition name specified")],
        [.submitted(job: "101"), .gone("Invalid partition name specified"), .intended],
      ]
      #expect(history.entries.map(\.state) == states[whole], "cut at \(count)")
    }
  }

  @Test("Who goes on behind a cut line begins a new one, wherever it was cut")
  func goingOn() throws {
    let bytes = try writeAll()
    for count in stride(from: 0, through: bytes.count, by: 7) {
      try held.replace(SubmissionLog.fileName, with: Array(bytes[..<count]))
      let before = try SubmissionLog.read(in: held)
      let log = try SubmissionLog(in: held)
      try log.intend(Self.submission(9))
      try log.accepted(9, job: "900")
      let after = try SubmissionLog.read(in: held)
      #expect(after.entries.dropLast() == before.entries[...], "cut at \(count)")
      #expect(after.entries.last?.state == .submitted(job: "900"))
    }
  }

  @Test("Unknown keys and lines of later builds are passed over")
  func unknown() throws {
    var text = String(decoding: try writeAll(), as: UTF8.self)
    text = text.replacing(#"{"job""#, with: #"{"color":[1,{}],"job""#)
    text = text.replacing(#""cores":4"#, with: #""cores":4,"gpus":1"#)
    text +=
      #"{"submission":3,"waited":5}"# + "\n" + "hello\n[]\n{}\n" + #"{"submission":"x"}"# + "\n"
    text +=
      #"{"submission":4,"intent":{"number":4}}"# + "\n" + #"{"submission":4,"job":"104"}"# + "\n"
    let history = SubmissionHistory(Array(text.utf8))
    #expect(history.entries.map(\.submission.number) == [1, 2, 3])
    #expect(history.entries[0].state == .submitted(job: "101"))
    #expect(history.entries[2].state == .intended)
    // Its intent could not be read, but there is a job: its number is taken.
    #expect(history.nextNumber == 5)
  }

  @Test("The last word about a submission counts")
  func last() throws {
    let log = try SubmissionLog(in: held)
    try log.intend(Self.submission(1))
    try log.accepted(1, job: "101")
    try log.gone(1, why: "cancelled before it began")
    #expect(
      try SubmissionLog.read(in: held).entries.map(\.state) == [.gone("cancelled before it began")])
  }

  @Test("No log is an empty one; what is no file of ours is refused")
  func absent() throws {
    #expect(try SubmissionLog.read(in: held) == SubmissionHistory([]))
    #expect(SubmissionHistory([]).nextNumber == 1)
    try FileSystem.makeFolder(folder.path.appending(SubmissionLog.fileName))
    #expect(throws: FileError.self) { try SubmissionLog(in: held) }
  }

  @Test(
    "What the disk does not take is told, and nothing after it is lost",
    arguments: ["write", "flush"])
  func faults(step: String) throws {
    let log = try SubmissionLog(in: held)
    try log.intend(Self.submission(1))
    StorageFaults.set(below: folder.path) { failing, _ in
      failing.rawValue == step ? .noSpace : nil
    }
    #expect(throws: FileError.self) { try log.intend(Self.submission(2)) }
    StorageFaults.set(below: folder.path, nil)
    try log.intend(Self.submission(3))
    #expect(try SubmissionLog.read(in: held).entries.last?.submission.number == 3)
  }
}
