import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What an upload server notes counts for watch, status and run alike", .runsPrograms)
struct UploadEvidenceTests {
  /// Notes of a server about the files that lie in a folder.
  private static func note(
    _ folder: FilePath, id: String, complete: Bool, state: String = "verified",
    missing: [String] = []
  ) throws {
    let files = try FileSystem.names(in: folder)
      .filter { !$0.hasPrefix(".") }.map { name in
        let stamp = try #require(FileStamp(of: folder.appending(name)))
        return [
          "name": name, "state": state, "bytes": stamp.bytes,
          "modified": UTCText.exact(nanoseconds: stamp.modifiedNanoseconds),
        ] as [String: Any]
      }
    let notes: [String: Any] = [
      "schema": 1, "capture": id, "family": "scannet", "missing": missing, "files": files,
      "complete": complete ? "2026-11-20T10:00:00.5Z" : NSNull(), "processRequested": NSNull(),
    ]
    try folder.appending(".upload.json").write(json: notes)
  }

  private static func remove(_ ending: String, of id: String, in folder: FilePath) throws {
    try FileSystem.remove(folder.appending("\(id)\(ending)"))
  }

  /// `verified` and `unverified` lack a file of their family and are complete by the word of the server; `waiting`
  /// lacks one and is not; the notes of `damaged` are; of `moving` something is on its way; `twin~2` has the id of `twin`.
  private static func scene() throws -> (WatchScene, FileLock) {
    let scene = try WatchScene()
    try FileSystem.makeFolder(scene.output)
    for (id, state) in [("verified", "verified"), ("unverified", "unverified")] {
      let folder = try scene.put(id)
      try remove(".camera", of: id, in: folder)
      try note(folder, id: id, complete: true, state: state)
    }
    let waiting = try scene.put("waiting")
    try remove(".camera", of: "waiting", in: waiting)
    try note(waiting, id: "waiting", complete: false, missing: ["waiting.camera", "waiting.log"])
    let damaged = try scene.put("damaged")
    try damaged.appending(".upload.json").write("{\"schema\":1,")
    try scene.put("moving")
    let first = try scene.put("twin")
    try note(first, id: "twin", complete: true)
    let second = scene.staging.appending("twin~2")
    try scene.make("twin", frames: 5).move(to: second)
    try note(second, id: "twin", complete: true)
    let incoming = scene.staging.appending(".incoming")
    try FileSystem.makeFolder(incoming)
    try incoming.appending("x.json").write(
      #"{"capture":"moving","name":"moving.h264","expected":9,"received":1}"#)
    try incoming.appending("x.part").write("1")
    let lock = try #require(
      try FileLock(at: scene.staging.appending(".lock"), holder: "receive") { _ in false })
    return (scene, lock)
  }

  private static func captures(_ result: Program.Result) throws -> [String: [String: Any]] {
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let list = try #require(object).objects("captures")
    return Dictionary(list.compactMap { item in (item["id"] as? String).map { ($0, item) } }) {
      first, _ in first
    }
  }

  @Test("status --staging, watch and run")
  func all() throws {
    let (scene, lock) = try Self.scene()
    try withExtendedLifetime(lock) {
      try looked(scene)
      try watched(scene)
      try ran(scene)
    }
  }

  private func looked(_ scene: WatchScene) throws {
    let words = ["status", scene.output.string, "--staging", scene.staging.string]
    let json = try Program.run("\(words) --json")
    let captures = try Self.captures(json)
    #expect(
      captures.compactMapValues { $0["state"] as? String } == [
        "verified": "queued", "unverified": "queued", "waiting": "incomplete",
        "damaged": "queued", "moving": "arriving", "twin": "queued", "twin~2": "queued",
      ])
    #expect(captures["waiting"]?["missing"] as? [String] == [".camera", ".log"])
    #expect(captures["twin~2"]?["twinOf"] as? String == "twin")
    #expect(captures["twin"]?["twinOf"] == nil)
    #expect(
      json.errors == "note: \(scene.staging)/damaged/.upload.json is not used: no JSON\n",
      "\(json.errors)")
    let text = try Program.run("\(words) --all")
    #expect(text.output.contains("waits for .camera .log"), "\(text.output)")
    #expect(text.output.contains("same id as twin, other content"), "\(text.output)")
    #expect(!text.output.contains(".incoming") && !text.output.contains(".lock"))
  }

  private func watched(_ scene: WatchScene) throws {
    let result = try scene.once("--exit-code")
    #expect(result.status == 1, "\(result.errors)")
    #expect(scene.waiting == ["waiting": "incomplete", "moving": "arriving"])
    for id in ["verified", "unverified", "damaged", "twin", "twin~2"] {
      #expect(scene.isDone(id), "\(id)")
    }
    #expect(
      result.errors.contains(
        "damaged/.upload.json is not used: no JSON; whether the capture is complete is told by the rule of its family"
      ), "\(result.errors)")
    #expect(result.errors.contains("twin~2: same id as twin, other content"))
    #expect((scene.record["unrecognized"] as? [Any])?.isEmpty == true)
    let report = try Program.run("report \(scene.output) --format json")
    let captures = try Self.captures(report)
    #expect(captures["twin~2"]?["twinOf"] as? String == "twin")
    #expect(captures["waiting"]?["missing"] as? [String] == [".camera", ".log"])
    try Program.run("report \(scene.output)").succeeds()
    let page = try scene.output.appending("index.html").text()
    #expect(page.contains("waits for .camera .log"))
    #expect(page.contains("same id as twin"))
  }

  private func ran(_ scene: WatchScene) throws {
    let words = ["--output", scene.output.string, "--pipeline", scene.pipeline]
    let all = try Program.run("run \(scene.staging) \(words)")
    #expect(
      all.output.contains("moving skipped 0/0 note=\"an upload of it is on its way\"\n"),
      "\(all.output)")
    #expect(!scene.isDone("moving"))
    let named = try Program.run("run \(scene.staging.appending("moving")) \(words)")
    #expect(named.status == 0 && scene.isDone("moving"), "\(named.errors)")
  }

  @Test(
    "Digests that are compared after a capture was done count for what may be deleted on a device")
  func verifiedLater() throws {
    let scene = try WatchScene()
    let folder = try scene.put("a")
    try Self.note(folder, id: "a", complete: true, state: "unverified")
    try scene.once().succeeds()
    func custody() throws -> [String: Any]? {
      let report = try Program.run("report \(scene.output) --format json")
      return try Self.captures(report)["a"]?["custody"] as? [String: Any]
    }
    #expect(try custody()?["verifiedBy"] == nil)
    #expect(
      (try custody()?["lacks"] as? [String])?.contains {
        $0.hasSuffix("files not verified by the upload server")
      }
        == true)
    try Self.note(folder, id: "a", complete: true)
    #expect(try custody()?["verifiedBy"] as? String == "manifest")
    #expect(try custody()?["lacks"] as? [String] == [])
    // Damage in its middle, as it comes with a file that was put there in another way.
    let file = try FileHandle(forUpdating: URL(filePath: folder.appending("a.h264").string))
    try file.seek(toOffset: 400)
    try file.write(contentsOf: Data(repeating: 7, count: 40))
    try file.close()
    #expect(try scene.once("--exit-code").status == 1)
    let views = [
      ["status", scene.output.string, "--json"],
      ["report", scene.output.string, "--format", "json"],
    ]
    for words in views {
      let reasons =
        try Self.captures(Program.run(words))["a"]?["reasons"] as? [[String: Any]] ?? []
      #expect(reasons.map { $0["code"] as? String } == ["altered-files"], "\(words)")
      #expect(reasons.first?["file"] as? String == "a.h264")
    }
    let after = try #require(try custody())
    #expect(after["verifiedBy"] == nil)
    #expect(
      (after["lacks"] as? [String])?.contains { $0.contains("have changed since") } == true,
      "\(after)")
  }

  @Test(
    "inspect tells how many files have the digests that the app wrote, and nothing is called verified for it"
  )
  func digestsOfApp() throws {
    let folder = try TemporaryFolder()
    try Program.synthesize(
      "vi-slam --generation android --frames 3 --seed 4 --id a", to: folder.path.appending("in"))
    let capture = folder.path.appending("in").appending("a")
    let name = "imu_data.csv"
    let digest = try Digest(ofFileAt: capture.appending(name)).hex
    try capture.appending("checksums.sha256").write("\(digest)  \(name)\n")
    let told = try Program.run("inspect \(capture)").succeeds().output
    #expect(told.contains("1 file with the digests that it wrote"), "\(told)")
    #expect(!told.contains("verified"))
  }
}
