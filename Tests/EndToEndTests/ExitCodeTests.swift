import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

/// One rule for all verbs: 1 where something that the call was to make failed; with `--exit-code` also where a capture
/// needs a person.
@Suite("Exit codes of all verbs against one output in every state", .runsPrograms)
struct ExitCodeTests {
  enum State: CaseIterable, Sendable {
    case done, lacking, failed, marked
  }

  @Test(arguments: State.allCases)
  func codes(_ state: State) throws {
    let scene = try Scene(synthesizing: [
      "scannet", "--frames", "4", "--width", "64", "--height", "48",
    ])
    let place = scene.input.appending("a")
    func file(_ ending: String) throws -> String {
      let name = try #require(
        try FileSystem.names(in: place).first { $0.hasSuffix(ending) }, "\(ending)")
      return place.appending(name).string
    }
    switch state {
    case .done: break
    case .lacking, .marked: try FileManager.default.removeItem(atPath: try file(".imu"))
    case .failed:
      try Data("no depth".utf8).write(to: URL(filePath: try file(".depth")))
    }
    let output = scene.output.string
    let made: Int32 = state == .failed ? 1 : 0
    #expect(try scene.run("--until", "depth,tables").status == made)
    if state == .marked {
      let mark = try Program.run(["mark", "done-as-is", "\(output)/a"])
      #expect(mark.status == 0, "\(mark.errors)")
    }
    let needs: Int32 = state == .lacking || state == .failed ? 1 : 0
    // Run again: what failed fails again, what is done is up to date.
    #expect(try scene.run("--until", "depth,tables").status == made)
    #expect(try scene.run("--until", "depth,tables", "--exit-code").status == max(made, needs))
    for verb in [["status", output], ["report", output, "--format", "json"]] {
      #expect(try Program.run(verb).status == 0, "\(verb)")
      #expect(try Program.run(verb + ["--exit-code"]).status == needs, "\(verb)")
    }
    // A mark is about results: inspect knows the files alone.
    let unsound: Int32 = state == .done ? 0 : 1
    #expect(try Program.run(["inspect", place.string, "--exit-code"]).status == unsound)

    let listed = try Program.run(["status", output, "--needs-person", "--json"]).json()
    #expect((listed["captures"] as? [Any])?.count == Int(needs))
    let told = try Program.run(["status", output, "--json"]).json()
    let row = try #require((told["captures"] as? [[String: Any]])?.first)
    #expect(row["needsPerson"] as? Bool == (needs == 1))
    #expect((row["reasons"] as? [Any])?.isEmpty == (needs == 0))
    let night = try Program.run(["report", output, "--format", "json", "--needs-person"]).json()
    #expect((night["captures"] as? [Any])?.count == Int(needs))
  }
}
