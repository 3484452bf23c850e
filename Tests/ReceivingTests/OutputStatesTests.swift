import Foundation
@testable import Receiving
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import scanmill_receive

@Suite("What the page tells of the output is of the capture itself")
struct OutputStatesTests {
  private let folder: TemporaryFolder
  private var output: FilePath { folder.path.appending("out") }
  private var staging: FilePath { folder.path.appending("staging") }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(staging)
    try FileSystem.makeFolder(output)
  }

  /// An output as `run` makes it of a place in STAGING.
  private func make(_ name: String, of place: String, stem: String? = nil) throws {
    let notes = output.appending(name: name).appending(".scanmill")
    try FileSystem.makeFolder(notes)
    let owner: [String: Any?] = [
      "schema": 1, "id": name, "family": "scannet", "stem": stem,
      "folder": staging.pushing(FilePath(place)).string,
    ]
    try JSONSerialization.data(withJSONObject: owner.compactMapValues(\.self)).write(
      to: URL(filePath: notes.appending("owner.json").string))
    try output.appending(name: name).appending("report.html").write("report of \(place)")
  }

  private func report(_ states: OutputStates, _ folder: String) -> String? {
    states.report(of: folder).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Names that become one name in the output, and a second scan that was processed first")
  func owners() throws {
    try make("scan-a", of: "scan a")
    try make("scan-a~2", of: "scan-a")
    try make("k", of: "k~2")
    try make("k~2", of: "k")
    try make("s", of: "s", stem: "s")
    try make("t-1", of: "t", stem: "1")
    try make("t", of: "t", stem: "t")
    let states = OutputStates(output, staging: staging)
    for name in ["scan a", "scan-a", "k", "k~2", "s", "t"] {
      #expect(report(states, name) == "report of \(name)")
      #expect(states.states(of: [name])[name]?.state == "done")
    }
    for name in ["scan-a~2", "t-1", "out", ".."] {
      #expect(report(states, name) == nil)
      #expect(states.states(of: [name]).isEmpty)
    }
    // What failed is not done.
    let note = output.appending("k").appending(".failed").appending("color")
    try FileSystem.makeFolder(note)
    try note.appending("failure.json").write(
      #"{"schema":1,"message":"no video","cause":"input","time":"2026-11-27T08:00:00Z"}"#)
    let failed = states.states(of: ["k~2"])["k~2"]
    #expect(failed?.state == "failed" && failed?.note == "no video")
    // Another owner, and a report that is gone.
    try make("k", of: "new")
    try FileSystem.remove(output.appending("s").appending("report.html"))
    #expect(report(states, "new") == "report of new" && report(states, "k~2") == nil)
    #expect(states.states(of: ["s"]).isEmpty)
  }
}
