import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine

@Suite("Files run.json that are damaged")
struct DamagedRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func id(_ number: Int) -> String { "2026112\(number)T020000-1-00000000-000001" }

  private func write(_ text: String, _ id: String, _ name: String = "run.json") throws {
    let run = folder.path.appending("runs").appending(id)
    if !FileSystem.exists(run) { try FileSystem.makeFolder(run) }
    try OutputFile.write(Array(text.utf8), to: run.appending(name))
  }

  private static let whole = #"{"started":"2026-11-20T02:00:00Z","captures":[]}"#

  @Test(
    "A file that is there and cannot be understood is damaged",
    arguments: [
      ("", true), ("{", true), ("[]", true), (#"{"started":1}"#, true),
      (String(whole.dropLast()), true), ("\u{0}\u{0}\u{0}", true), (whole, false), ("{}", false),
      (#"{"schema":99,"started":"2026-11-20T02:00:00Z","later":1}"#, false),
    ])
  func damaged(text: String, isDamaged: Bool) throws {
    try write(text, Self.id(1))
    let found = try DamagedRun.all(in: folder.path, known: [])
    #expect(found.count == (isDamaged ? 1 : 0))
    #expect(try DamagedRun.newest(in: folder.path) == found)
    guard let note = found.first?.note else { return }
    #expect(note.contains("runs/\(Self.id(1))/run.json is damaged: nothing of this run is known"))
  }

  @Test("Runs that began within one second come in the order in which they began")
  func order() throws {
    for (process, moment) in [(9, "100"), (10, "900"), (11, "500")] {
      try write(
        #"{"started":"2026-11-20T02:00:00.\#(moment)Z","captures":[]}"#,
        "20261120T020000-\(process)-00000000-000001")
    }
    let reader = OutputReader(
      OutputExaminer(
        captures: CaptureRegistry([]), stages: StageRegistry([]), chosen: nil,
        standard: PipelineDefinition(name: "none", stages: [])), signature: nil)
    let runs = try reader.view(of: folder.path).runs
    #expect(runs.map { RunID($0.id)?.process } == [9, 11, 10])
  }

  @Test("A run without the file, and a folder of somebody else, are not")
  func absent() throws {
    try write("{}", Self.id(1), "events.jsonl")
    try write("{", "notes of mine")
    #expect(try DamagedRun.all(in: folder.path, known: []) == [])
    #expect(try DamagedRun.newest(in: folder.path) == [])
  }

  @Test("Where the runs cannot be listed, it is not said that there are none")
  func unlistable() throws {
    try write("{}", Self.id(1))
    StorageFaults.setLooks(below: folder.path) { look, _ in look == .list ? .ioError : nil }
    defer { StorageFaults.setLooks(below: folder.path, nil) }
    #expect(throws: FileError.self) { try DamagedRun.all(in: folder.path, known: []) }
    #expect(throws: FileError.self) { try RunReader.ids(in: folder.path) }
  }

  @Test("What the events tell is known, and the note says so")
  func events() throws {
    try write("{", Self.id(1))
    try write("{}", Self.id(1), "events.jsonl")
    let note = try #require(try DamagedRun.all(in: folder.path, known: []).first).note
    #expect(note.contains("only its events are known, not its pipeline"))
    #expect(note.contains("restore the file, or remove the folder"))
  }

  @Test("The newest are those behind the last file that is understood; of many five are named")
  func newest() throws {
    for number in 1...9 { try write(number == 3 ? Self.whole : "{", Self.id(number)) }
    let all = try DamagedRun.all(in: folder.path, known: [])
    #expect(all.count == 8)
    #expect(try DamagedRun.newest(in: folder.path) == Array(all.dropFirst(2)))
    let notes = DamagedRun.notes(all)
    #expect(notes.count == 6 && notes[4].contains(Self.id(9)))
    #expect(notes[5] == "3 older files run.json are damaged, too")
  }
}
