@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("What senders and upload servers say about a capture, and what of it is believed")
struct UploadMarkTests {
  /// A capture's folder with these files (names and sizes) and these notes.
  private static func mark(
    _ notes: String?, files: [String: Int] = ["a.txt": 1, "a.depth": 2], folder name: String = "a",
    journal: String? = nil
  ) throws -> UploadMark {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending(name)
    try FileSystem.makeFolder(capture)
    for (file, bytes) in files {
      try capture.appending(file).write(Data(repeating: 1, count: bytes))
      try FileManager.default.setAttributes(
        [.modificationDate: Self.modified], ofItemAtPath: capture.appending(file).string)
    }
    if let notes {
      try capture.appending(".upload.json").write(notes)
    }
    if let journal {
      try capture.appending(".upload.journal").write(journal)
    }
    return UploadMark(of: capture)
  }

  /// Modification time of all files: 2026-11-20T10:00:00.5Z.
  private static let modified = Date(timeIntervalSince1970: 1_795_168_800.5)

  /// Notes about `a.txt` and `a.depth`.
  private static func notes(
    complete: Bool, _ first: String = "verified", _ second: String = "verified",
    missing: [String] = [], requested: String? = nil, bytes: Int = 2,
    secondModified: String = "2026-11-20T10:00:00.5Z"
  ) -> String {
    func time(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }
    let names = missing.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"schema":1,"capture":"a","family":"scannet","firstArrival":"2026-11-20T10:00:00.5Z",
      "lastArrival":"2026-11-20T10:05:00.5Z","complete":\(time(complete ? "2026-11-20T10:05:01.123456Z" : nil)),
      "missing":[\(names)],"processRequested":\(time(requested)),"files":[
      {"name":"a.txt","bytes":1,"md5":"x","sha256":"x","received":"2026-11-20T10:00:00.5Z","state":"\(first)",
      "modified":"2026-11-20T10:00:00.5Z","replaced":0,"sender":"10.0.0.7","userAgent":"ScanNet/1"},
      {"name":"a.depth","bytes":\(bytes),"state":"\(second)","modified":"\(secondModified)"}]}
      """
  }

  private static func expected(
    _ isComplete: Bool, _ isSettled: Bool, waitsFor: [String] = [], problem: String? = nil
  ) -> UploadMark {
    var mark = UploadMark()
    (mark.isComplete, mark.isSettled) = (isComplete, isSettled)
    (mark.waitsFor, mark.problem) = (waitsFor, problem)
    return mark
  }

  @Test(
    "Notes of an upload server that the folder bears out",
    arguments: [
      ("complete and verified: at once", notes(complete: true), expected(true, true)),
      (
        "complete, not verified: after the settle time", notes(complete: true, "unverified"),
        expected(true, false)
      ),
      (
        "changed since it was verified: after the settle time",
        notes(complete: true, secondModified: "2026-11-20T10:00:00.4Z"), expected(true, false)
      ),
      ("not complete: by its own rule", notes(complete: false), expected(false, false)),
      (
        "what it waits for", notes(complete: false, missing: ["a.imu", ".camera", "notes.txt"]),
        expected(false, false, waitsFor: [".imu", ".camera", "notes.txt"])
      ),
      (
        "what was put there by hand is not waited for",
        notes(complete: false, missing: ["a.depth", ".txt", ".imu"]),
        expected(false, false, waitsFor: [".imu"])
      ),
      (
        "a damaged file is waited for", notes(complete: false, "verified", "mismatch"),
        expected(false, false, waitsFor: ["a.depth"])
      ),
      (
        "not one that was replaced by hand",
        notes(complete: false, "verified", "mismatch", bytes: 7), expected(false, false)
      ),
      (
        "processing was asked for",
        notes(complete: false, missing: [".imu"], requested: "2026-11-20T10:05:00.6Z"),
        expected(false, true, waitsFor: [".imu"])
      ),
      (
        "before the last file came",
        notes(complete: true, "unverified", requested: "2026-11-20T10:05:00Z"),
        expected(true, false)
      ),
      (
        "only what counts is needed", #"{"schema":1,"complete":"2026-11-20T10:00:00Z"}"#,
        expected(true, false)
      ),
    ])
  func believed(what: String, notes: String, mark: UploadMark) throws {
    #expect(try Self.mark(notes) == mark, "\(what)")
  }

  @Test(
    "Notes that are not used; why is said, and the family's own rule decides",
    arguments: [
      ("[", "no JSON"), ("", "no JSON"), ("7", "no JSON object"), ("\u{0}\u{1}", "no JSON"),
      ("{}", "schema is missing"), (#"{"schema":2,"complete":"x"}"#, "schema 2 is not known"),
      (#"{"schema":1,"complete":"yesterday"}"#, "complete is no time"),
      (#"{"schema":1,"complete":7}"#, "complete is of another kind"),
      (#"{"schema":1,"files":[{"name":"a.txt"}]}"#, "files[0].state is missing"),
      (
        #"{"schema":1,"files":[{"name":"a.txt","state":"fine"}]}"#,
        "files[0].state is none of unverified, verified, mismatch"
      ),
      (
        #"{"schema":1,"files":[{"name":"a.txt","state":"verified","bytes":-1}]}"#,
        "files[0].bytes is negative"
      ),
      (
        #"{"schema":1,"files":[{"name":"a.txt","state":"verified","bytes":1e99}]}"#,
        "no JSON"
      ),
      (#"{"schema":1,"missing":["\u001b[31m"]}"#, "missing has a control character"),
      (#"{"schema":1,"missing":[""]}"#, "missing is empty or longer than 1024 bytes"),
      (
        String(repeating: "[", count: 100_000),
        "65 brackets inside each other, at most 64 are read: each takes memory on the stack"
      ),
      (notes(complete: true, bytes: 3), "it says complete, but a.depth has 2 bytes in place of 3"),
      (
        notes(complete: true).replacing("a.depth", with: "../a/a.depth2"),
        "it says complete, but ../a/a.depth2 is not there"
      ),
      (
        notes(complete: true, "mismatch"), "it says complete, and that a.txt is damaged"
      ),
    ])
  func refused(notes: String, why: String) throws {
    let mark = try Self.mark(notes)
    #expect(mark == Self.expected(false, false, problem: why))
  }

  private static func line(
    _ name: String, state: String = "verified", received: String = "2026-11-20T10:06:00.5Z"
  ) -> String {
    """

    {"name":"\(name)","bytes":1,"state":"\(state)","received":"\(received)","modified":"2026-11-20T10:00:00.5Z"}

    """
  }

  @Test(
    "What the journal says counts as if it stood in the manifest, which is the newer where both name a file",
    arguments: [
      ("nothing was added", "", expected(true, true)),
      ("one that is not verified", line("a.imu", state: "unverified"), expected(true, false)),
      ("one that is verified", line("a.imu"), expected(true, true)),
      (
        "one that is not there", line("a.camera"),
        expected(false, false, problem: "it says complete, but a.camera is not there")
      ),
      ("one that the manifest names too", line("a.txt", state: "mismatch"), expected(true, true)),
      ("a line that was cut", line("a.imu") + "{\"name\":\"a.ca", expected(true, true)),
      (
        "a line with a name that no file has", line("\\u001b"),
        expected(false, false, problem: ".upload.journal, file 0.name has a control character")
      ),
    ])
  func journal(what: String, journal: String, mark: UploadMark) throws {
    let files = ["a.txt": 1, "a.depth": 2, "a.imu": 1]
    let found = try Self.mark(Self.notes(complete: true), files: files, journal: journal)
    #expect(found == mark, "\(what)")
    #expect(try Self.mark(nil, files: files, journal: journal) == UploadMark(), "\(what)")
  }

  @Test(
    "A request to process says nothing of a file that came after it and stands in the journal only")
  func journalAfterRequest() throws {
    let notes = Self.notes(complete: false, requested: "2026-11-20T10:05:30Z")
    #expect(try Self.mark(notes).isSettled)
    #expect(try !Self.mark(notes, journal: Self.line("a.imu")).isSettled)
    let before = Self.line("a.imu", received: "2026-11-20T10:05:29Z")
    #expect(try Self.mark(notes, journal: before).isSettled)
  }

  @Test("Notes that were cut anywhere are damaged, and nothing worse")
  func cut() throws {
    let whole = Array(Self.notes(complete: true).utf8)
    let folder = try TemporaryFolder()
    for file in [("a.txt", 1), ("a.depth", 2)] {
      try folder.path.appending(file.0).write(Data(repeating: 1, count: file.1))
    }
    for count in whole.indices {
      try folder.path.appending(".upload.json").write(whole[..<count])
      let mark = UploadMark(of: folder.path)
      #expect(!mark.isComplete && !mark.isSettled && mark.problem != nil, "cut at \(count)")
    }
    try folder.path.appending(".upload.json").write(whole)
    #expect(UploadMark(of: folder.path).isComplete)
  }

  @Test("Bytes that are changed at random do no harm and never make a capture complete that is not")
  func changed() throws {
    let whole = Array(Self.notes(complete: false, missing: [".imu"]).utf8)
    var random = SeededGenerator(seed: 26)
    for _ in 0..<400 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      let mark = try Self.mark(String(decoding: bytes, as: UTF8.self))
      #expect(!mark.isComplete)
    }
  }

  @Test("Too large, a folder, a link out of the capture: not used")
  func odd() throws {
    let folder = try TemporaryFolder()
    let manifest = folder.path.appending(".upload.json")
    try FileSystem.makeFolder(manifest)
    #expect(!UploadMark(of: folder.path).isComplete)
    try FileManager.default.removeItem(atPath: manifest.string)
    let other = folder.path.appending("other.json").string
    try Data(#"{"schema":1,"complete":"2026-11-20T10:00:00Z"}"#.utf8).write(
      to: URL(filePath: other))
    let capture = folder.path.appending("a")
    try FileSystem.makeFolder(capture)
    try capture.appending(".upload.json").link(to: other)
    #expect(!UploadMark(of: capture).isComplete)
    try manifest.write("")
    try FileHandle(forWritingTo: URL(filePath: manifest.string)).truncate(atOffset: 1 << 30)
    let mark = UploadMark(of: folder.path)
    #expect(mark.problem?.hasPrefix("1073741824 bytes of .upload.json, at most") == true)
  }

  @Test("An empty file .complete says that everything is there, whatever a server says")
  func complete() throws {
    var mark = try Self.mark(nil, files: [".complete": 0])
    #expect(mark == Self.expected(true, true))
    mark = try Self.mark(Self.notes(complete: false), files: [".complete": 0, "a.txt": 1])
    #expect(mark.isComplete && mark.isSettled)
    #expect(try Self.mark(nil) == UploadMark())
  }

  @Test(
    "A twin says whose it is",
    arguments: [
      ("a~2", "a"), ("a~17", "a"), ("a~1", nil), ("a~02", nil), ("a~", nil), ("~2", nil),
      ("a", nil),
      ("b~2", nil),
    ])
  func twins(folder: String, twinOf: String?) throws {
    #expect(try Self.mark(Self.notes(complete: true), folder: folder).twinOf == twinOf)
    // Without notes of a server it is only a name.
    #expect(try Self.mark(nil, folder: folder).twinOf == nil)
  }

  // MARK: On their way

  private static func recognition(_ folder: FilePath, id: String) -> Recognition {
    Recognition(
      family: .scannet, certainty: .certain, folder: folder, id: id, reason: "test")
  }

  @Test("What a receiver has on its way counts while it holds its lock")
  func incoming() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path
    let incoming = staging.appending(".incoming")
    try FileSystem.makeFolder(incoming)
    func write(_ text: String, _ name: String) throws {
      try incoming.appending(name).write(text)
    }
    try write(
      #"{"capture":"a","name":"a.h264","expected":10,"received":3,"started":"2026-11-20T10:00:00Z","sender":"x"}"#,
      "r1.json")
    try write("123", "r1.part")
    try write(#"{"capture":"a"}"#, "r2.json")
    try write("12", "r2.part")
    for (name, text) in [
      ("r3.json", "["), ("r4.json", #"{"capture":7}"#), ("r5.txt", #"{"capture":"b"}"#),
    ] {
      try write(text, name)
    }
    func found(_ name: String, id: String = "a") throws -> IncomingUpload? {
      try IncomingUploads(into: staging).upload(
        of: Self.recognition(staging.appending(name), id: id), isOneCapture: true)
    }
    #expect(try found("a") == nil)
    let lock = try #require(
      try FileLock(at: staging.appending(".lock"), holder: "receive") { _ in false })
    try withExtendedLifetime(lock) {
      #expect(try found("a")?.bytes == 5)
      #expect(try found("a")?.temporaryFile == ".incoming/r1.part")
      // The twin that a file will be of is not known before it is complete.
      #expect(try found("a~2")?.bytes == 5)
      #expect(try found("scan", id: "a")?.bytes == 5)
      #expect(try found("b", id: "b") == nil)
      #expect(try IncomingUploads(into: staging).upload(into: staging.appending("a"))?.bytes == 5)
      let before = try #require(try found("a"))
      try write("1234", "r1.part")
      #expect(try found("a") != before)
      let capture = Self.recognition(staging.appending("a"), id: "a")
      #expect(try UploadEvidence.of([capture]).values.map(\.isArriving) == [true])
      #expect(try UploadEvidence.areArriving([capture]).count == 1)
    }
  }

  @Test("Names in .incoming that are odd are passed over")
  func oddIncoming() throws {
    let folder = try TemporaryFolder()
    let incoming = folder.path.appending(".incoming")
    try FileSystem.makeFolder(incoming.appending("folder.json"))
    try incoming.appending("link.json").link(to: "/etc/passwd")
    try incoming.appending("large.json").write(Data(repeating: 0x5b, count: 1 << 20))
    let lock = try FileLock(at: folder.path.appending(".lock"), holder: "receive") { _ in false }
    let isEmpty = try IncomingUploads(into: folder.path).isEmpty
    withExtendedLifetime(lock) { #expect(isEmpty) }
  }
}
