import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Status and index, from outside", .runsPrograms)
struct StatusTests {
  private let scene: Scene

  init() throws {
    scene = try Scene("a", "b", frames: 4)
    // One whose motion file is cut, so that its stage fails or warns, and one that lacks files.
    let depth = scene.file("a.depth")
    let bytes = try #require(depth.contents)
    try FileSystem.remove(depth)
    try OutputFile.write(Array("not depth at all".utf8) + bytes.prefix(9), to: depth)
    #expect(try scene.run().status == 1)
  }

  private func status(_ words: String..., output: FilePath? = nil) throws -> Program.Result {
    try Program.run(["status", (output ?? scene.output).string] + words)
  }

  private func states(_ words: String...) throws -> [String: String] {
    try Program.run("status \(scene.output) --json \(words)").json().captures()
      .mapValues { $0["state"] as? String ?? "" }
  }

  @Test("All filters must hold; words that are none are 64 with the nearest")
  func filters() throws {
    #expect(try states() == ["a": "failed", "b": "done"])
    #expect(try states("--state", "failed,quarantined").keys.sorted() == ["a"])
    #expect(
      try states("--state", "done", "--family", "scannet", "--search", "OFFICE").keys.sorted() == [
        "b"
      ])
    #expect(try states("--state", "done", "--family", "strabo").isEmpty)
    #expect(try states("--device", "ipad").count == 2)
    #expect(try states("--device", "android").isEmpty)
    #expect(try states("--since", "1h").count == 2)
    #expect(try states("--since", "2099-01-01").isEmpty)
    #expect(try states("--warning", "clock-jump").isEmpty)
    for (words, nearest) in [
      (["--state", "faild"], "failed"), (["--family", "scanet"], "scannet"),
      (["--warning", "frame-gaps"], "frame-gap"),
    ] {
      let wrong = try Program.run("status \(scene.output) \(words)")
      #expect(
        wrong.status == 64 && wrong.errors.contains("did you mean '\(nearest)'"), "\(wrong.errors)")
    }
    #expect(try status("--since", "yesterday").status == 64)
    #expect(try status("--json", "--csv").status == 64)
  }

  @Test("A change shows at once, however the results were changed")
  func changes() throws {
    _ = try status()
    try FileSystem.remove(scene.output.appending("b/color/000001.png"))
    #expect(try status("--needs-person", "--search", "b").output.contains("not up to date: "))
    let image = scene.output.appending("b/color/000002.png")
    let handle = try FileHandle(forWritingTo: URL(filePath: image.string))
    try handle.truncate(atOffset: 5)
    try handle.close()
    #expect(try status("--json").output.contains("outputs-"))
    try FileSystem.remove(scene.output.appending("b"))
    #expect(try states().keys.sorted() == ["a"])
  }

  @Test("--staging lists what has not been processed, whole, lacking or unknown")
  func staging() throws {
    for (id, lacking) in [("new", nil), ("lacks", "imu")] as [(String, String?)] {
      try Program.synthesize(
        "scannet --frames 2 --width 324 --height 242 \(Scene.smallDepth) --id \(id)",
        to: scene.input)
      if let lacking { try FileSystem.remove(scene.file("\(id).\(lacking)", of: id)) }
    }
    try FileSystem.makeFolder(scene.input.appending("holiday"))
    try OutputFile.write([1], to: scene.input.appending("holiday/beach.bin"))
    let json = try status("--json", "--staging", scene.input.string).json()
    let captures = try json.captures()
    #expect(captures["new"]?["state"] as? String == "queued")
    #expect(captures["lacks"]?["state"] as? String == "incomplete")
    #expect(captures["lacks"]?["missing"] as? [String] == [".imu"])
    let unknown = try json.objects("unrecognized")
    #expect(unknown.contains { ($0["path"] as? String)?.hasSuffix("/holiday") == true })
    // A watcher waits for a file on its way, and a person has marked a folder.
    try FileSystem.makeFolder(scene.input.appending("late"))
    for name in ["late.txt", ".late.imu.Xy12ab"] {
      try OutputFile.write([1], to: scene.input.appending("late/\(name)"))
    }
    _ = try Program.run(
      "watch \(scene.input) -o \(scene.output) --once --settle 0s --progress none")
    try Program.run("mark ignore holiday --output \(scene.output)").succeeds()
    let again = try status("--json", "--staging", scene.input.string).json()
    #expect(try again.captures()["late"]?["state"] as? String == "arriving")
    let left = try again.objects("unrecognized").compactMap { $0["path"] as? String }
    #expect(!left.contains { $0.hasSuffix("/holiday") || $0.hasSuffix("/late") }, "\(left)")
    #expect(try status("--staging", "/nowhere").status == 65)
  }
}
