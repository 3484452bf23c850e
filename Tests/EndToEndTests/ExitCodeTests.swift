import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

/// One rule for all verbs: 1 where something that the call was to make failed; with `--exit-code` also where a capture
/// needs a person.
@Suite("Exit codes of all verbs against one output in every state", .runsPrograms)
struct ExitCodeTests {
  enum State: Int, CaseIterable, Sendable {
    case done, lacking, failed, marked, notPossible, nothing
  }

  /// Codes in the order of the states. `IN`, `OUT`: folders; `WHAT`: what was asked for before.
  static let table: [(words: String, codes: [Int32])] = [
    // Run again: what failed fails again, what is done is up to date.
    ("run IN -o OUT WHAT", [0, 0, 1, 0, 1, 65]),
    ("run IN -o OUT WHAT --exit-code", [0, 1, 1, 0, 1, 65]),
    ("run IN -o OUT WHAT --exit-code -q", [0, 1, 1, 0, 1, 65]),
    ("run IN -o OUT WHAT -n", [0, 0, 0, 0, 0, 65]),
    // Something would run.
    ("run IN -o OUT WHAT -n --exit-code", [0, 0, 1, 0, 0, 65]),
    ("status OUT", [0, 0, 0, 0, 0, 65]),
    ("status OUT --exit-code", [0, 1, 1, 0, 0, 65]),
    ("report OUT --format json", [0, 0, 0, 0, 0, 65]),
    ("report OUT --format json --exit-code", [0, 1, 1, 0, 0, 65]),
    ("inspect IN", [0, 0, 0, 0, 0, 65]),
    // A mark is about results: inspect knows the files alone.
    ("inspect IN --exit-code", [0, 1, 1, 1, 0, 65]),
    ("explain OUT/a", [0, 0, 0, 0, 0, 64]),
    ("list stages", [0, 0, 0, 0, 0, 0]),
    ("help run", [0, 0, 0, 0, 0, 0]),
    ("help nothing", [64, 64, 64, 64, 64, 64]),
    ("help params", [64, 64, 64, 64, 64, 64]),
    ("mark list OUT", [0, 0, 0, 0, 0, 65]),
    ("mark ignore OUT/b", [65, 65, 65, 65, 65, 65]),
    ("clean OUT", [0, 0, 0, 0, 0, 65]),
    ("bench IN/a --synthesize", [64, 64, 64, 64, 64, 64]),
    ("send IN/a --to http://127.0.0.1:9 --retries 0", [75, 75, 75, 75, 75, 65]),
    ("watch IN -o OUT --once --settle 100ms --poll 50ms", [0, 0, 1, 0, 0, 0]),
    ("watch IN -o OUT --once --settle 100ms --poll 50ms --exit-code", [0, 1, 1, 0, 0, 0]),
    ("watch IN -o OUT --once --settle 100ms --poll 50ms --exit-code -q", [0, 1, 1, 0, 0, 0]),
  ]

  @Test(arguments: State.allCases)
  func codes(_ state: State) throws {
    let scene = try Scene(synthesizing: "scannet --frames 4 --width 64 --height 48")
    let place = scene.input.appending("a")
    func file(_ ending: String) throws -> String {
      let name = try #require(
        try FileSystem.names(in: place).first { $0.hasSuffix(ending) }, "\(ending)")
      return place.appending(name).string
    }
    var what = ["--until", "depth,tables"]
    switch state {
    case .done: break
    case .lacking, .marked: try FileManager.default.removeItem(atPath: try file(".imu"))
    case .failed:
      try FilePath(try file(".depth")).write("no depth")
    case .notPossible: what = ["--until", "export-nerfstudio"]
    case .nothing:
      for name in try FileSystem.names(in: scene.input) {
        try FileSystem.remove(scene.input.appending(name: name))
      }
    }
    let output = scene.output.string
    let first = try Program.run("run \(scene.input) -o \(output) \(what)")
    #expect(first.status == Self.table[0].codes[state.rawValue])
    if state == .marked {
      try Program.run("mark done-as-is \(output)/a").succeeds()
    }
    // What has one code in every state is tried in one.
    for (words, codes) in Self.table where state == .done || Set(codes).count > 1 {
      let arguments = words.split(separator: " ").flatMap { word -> [String] in
        if word == "WHAT" { return what }
        let text = word.replacingOccurrences(of: "IN", with: scene.input.string)
        return [text.replacingOccurrences(of: "OUT", with: output)]
      }
      let result = try Program.run(arguments)
      #expect(result.status == codes[state.rawValue], "\(words): \(result.errors)")
      // A code that says so has its reason, and nothing else is said.
      if words.hasSuffix(" -q") {
        #expect(result.errors.isEmpty == (result.status == 0), "\(words)")
      }
    }
    guard state != .nothing else { return }
    let needs = state == .lacking || state == .failed
    let listed = try Program.run("status \(output) --needs-person --json").json()
    #expect((listed["captures"] as? [Any])?.count == (needs ? 1 : 0))
    let told = try Program.run("status \(output) --json").json()
    let row = try told.capture()
    #expect(row["needsPerson"] as? Bool == needs)
    #expect((row["reasons"] as? [Any])?.isEmpty == !needs)
    let night = try Program.run("report \(output) --format json --needs-person").json()
    #expect((night["captures"] as? [Any])?.count == (needs ? 1 : 0))
  }
}
