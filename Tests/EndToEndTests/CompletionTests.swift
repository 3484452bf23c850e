import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Completions", .runsPrograms)
struct CompletionTests {
  /// What is typed, what must be offered, what must not.
  private static let table: [(line: String, offered: [String], withheld: [String])] = [
    (
      "scanmill ", ["run", "watch", "inspect", "synthesize"], ["worker", "look", "generate-manual"]
    ),
    ("scanmill re", ["report"], ["run"]),
    ("scanmill run cap", ["captures"], ["other.txt"]),
    ("scanmill run x --out", ["--output"], []),
    ("scanmill run x --output o", ["out"], ["other.txt"]),
    ("scanmill run x --only ", ["color", "aligned", "tables"], ["depth-frames", "align-depth"]),
    ("scanmill run x --pipeline preview --until ", ["previews"], ["tables"]),
    ("scanmill run x --pipeline own.yaml --only ", ["mine"], ["color"]),
    ("scanmill run x --pipeline p", ["preview", "point-cloud"], ["default"]),
    ("scanmill run x --pipeline o", ["own.yaml"], ["other.txt"]),
    ("scanmill run x --set imu.w", ["imu.window="], ["imu.mode="]),
    ("scanmill run x --export nerfstudio,co", ["nerfstudio,colmap"], []),
    ("scanmill run x --family sc", ["scannet"], ["strabo"]),
    ("scanmill run x --progress ", ["auto", "plain", "none"], []),
    ("scanmill explain frame-g", ["frame-gap"], []),
    ("scanmill status --state qua", ["quarantined"], []),
    ("scanmill status --quality good,p", ["good,poor"], ["good,usable"]),
    ("scanmill list stages align-", ["align-depth", "align-color"], ["preview"]),
    ("scanmill list parameters im", ["imu"], ["color"]),
    ("scanmill synthesize sc", ["scannet"], ["strabo"]),
  ]

  private static func has(_ shell: String) -> Bool {
    guard PythonScript.isPresent else { return false }
    let found = try? Running("/usr/bin/env", ["which", shell], in: nil).finish()
    if found?.status == 0 { return true }
    print("skipped: there is no \(shell): completions are not tried in it")
    return false
  }

  private static let shells = ["bash", "zsh", "fish"].filter(has)

  @Test("Shells offer verbs, options, files, stages and parameters", arguments: shells)
  func offered(in shell: String) throws {
    let place = try TemporaryFolder()
    func make(_ name: String, _ text: String? = nil) throws {
      let path = place.path.appending(name)
      guard let text else { return try FileSystem.makeFolder(path) }
      try OutputFile.write(Array(text.utf8), to: path)
    }
    for name in ["bin", "work", "work/captures", "work/out"] { try make(name) }
    try make("work/own.yaml", "schema: 1\nstages:\n  mine: {uses: decode-color}\n")
    try make("work/other.txt", "")
    try make("script", try Program.run("--generate-completion-script \(shell)").output)
    try make("lines", Self.table.map { $0.line + "\n" }.joined())
    try place.path.appending("bin/scanmill").link(to: Program.path.string)
    let script = Fixtures.projectRoot.appending("Tests/Completions/complete.py")
    let result = try PythonScript.run(
      "/bin/sh",
      [
        "-c", "exec python3 \"$0\" \"$@\" <../lines", script.string, shell,
        place.path.appending("script").string, place.path.appending("bin").string, ".",
      ], nil, place.path.appending("work")
    ).succeeds()
    let answers = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [String]])
    for (line, offered, withheld) in Self.table {
      // Some shells show that a folder is one.
      let answer = Set((answers[line] ?? []).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
      #expect(answer.isSuperset(of: offered), "\(shell): \(line)→ \(answer.sorted())")
      #expect(answer.isDisjoint(with: withheld), "\(shell): \(line)→ \(answer.sorted())")
    }
  }

  @Test("A line that names a broken pipeline is completed by nothing, and says nothing")
  func broken() throws {
    let result = try Program.run(
      ["---completion", "run", "--", "--only", "5", "0"]
        + ["scanmill", "run", "x", "--pipeline", "nowhere.yaml", "--only", ""]
    ).succeeds()
    #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
    #expect(result.errors.isEmpty)
  }
}
