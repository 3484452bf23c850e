import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@Suite("Status, explain and clean")
struct VerbTests {
  private let folder: TemporaryFolder
  private var output: String { folder.path.appending("out").string }

  init() throws {
    folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    let made = try Program.run([
      "synthesize", "scannet", "--output", input, "--frames", "5", "--width", "324", "--height",
      "242", "--id", "scan",
    ])
    try #require(made.status == 0, "\(made.errors)")
    try #require(try Program.run(["run", input, "--output", output]).status == 0)
  }

  @Test("Status tells what is stale by the pipeline and settings of the last run")
  func status() throws {
    let done = try Program.run(["status", output])
    #expect(done.status == 0 && !done.output.contains("stale"))
    #expect(try Program.run(["status"], in: FilePath(output)).output == done.output)
    try FileSystem.remove(folder.path.appending("out/scan/color/000002.png"))
    let stale = try Program.run(["status", output, "--json"]).json()
    let capture = try #require((stale["captures"] as? [[String: Any]])?.first)
    let stages = try #require(capture["stages"] as? [[String: Any]])
    let color = try #require(stages.first { $0["stage"] as? String == "color" })
    #expect(color["state"] as? String == "stale")
    #expect(color["reason"] as? String == "outputs-missing")
    #expect(stale["schema"] as? Int == 1 && capture["id"] as? String == "scan")
    #expect(
      try Program.run(["status", output, "--set", "imu.window=20ms"]).output
        .contains("imu stale: parameters, window: 50ms -> 20ms"))
  }

  @Test("Explain compares everything, by path and by id")
  func explain() throws {
    let byID = try Program.run(["explain", "scan", "color", "--output", output])
    #expect(byID.status == 0 && byID.output.contains("is up to date"))
    let place = folder.path.appending("in/scan").string
    #expect(
      try Program.run(["explain", place, "color", "--output", output]).output == byID.output)
    let changed = try Program.run([
      "explain", "scan", "imu", "--output", output, "--set", "imu.window=20ms",
    ])
    #expect(changed.output.contains("would run: parameters"))
    #expect(changed.output.contains("* window") && changed.output.contains("50ms -> 20ms"))
    let json = try Program.run(["explain", "scan", "imu", "--output", output, "--json"]).json()
    #expect(json["action"] as? String == "up-to-date")
  }

  @Test(
    "Wrong words have their exit codes",
    arguments: [
      (["status", "/nowhere"], 65), (["status", "EMPTY"], 65), (["clean", "/nowhere"], 65),
      (["clean", "OUT", "--stage", "colr"], 64),
      (["clean", "OUT", "--failed", "--stage", "x"], 64),
      (["explain", "scan", "colr", "--output", "OUT"], 64),
      (["explain", "scam", "color", "--output", "OUT"], 65),
      (["status", "OUT", "--pipeline", "nowhere.yaml"], 78),
      (["status", "OUT", "--set", "imu.windw=1ms"], 64),
    ] as [([String], Int32)])
  func exitCodes(_ words: [String], _ status: Int32) throws {
    let empty = folder.path.appending("empty")
    try FileSystem.makeFolder(empty)
    let names = ["OUT": output, "EMPTY": empty.string]
    let result = try Program.run(words.map { names[$0] ?? $0 })
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty && !result.errors.isEmpty)
  }

  @Test("Clean lists and removes only with --yes, and never what somebody works on")
  func clean() throws {
    let imu = folder.path.appending("out/scan/imu")
    let listed = try Program.run(["clean", output, "--stage", "imu"])
    #expect(listed.status == 0 && listed.output.contains("would be removed"))
    #expect(FileSystem.exists(imu))
    do {
      let lock = try FileLock(
        at: folder.path.appending("out/scan/.scanmill/lock"), holder: "me"
      ) { _ in false }
      let held = try Program.run(["clean", output, "--stage", "imu", "--yes"])
      #expect(held.status == 75 && held.output.contains("locked by me"))
      withExtendedLifetime(lock) {}
    }
    #expect(FileSystem.exists(imu))
    #expect(try Program.run(["clean", output, "--stage", "imu", "--yes"]).status == 0)
    #expect(!FileSystem.exists(imu))
    #expect(try Program.run(["status", output]).output.contains("imu missing"))
    #expect(try Program.run(["clean", output, "--yes"]).output == "nothing to remove\n")
  }
}
