import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Files and folders that parameters name", .runsPrograms)
struct ParameterFileTests {
  @Test(
    "A path that is wrong ends the command before anything starts",
    arguments: [
      "aligned.calibration=/nowhere.json", "aligned.calibration=FOLDER",
      "aligned.calibration=BROKEN", "aligned.calibrationFolder=/nowhere",
      "aligned.calibrationFolder=BROKEN",
    ])
  func wrongPath(_ setting: String) throws {
    let scene = try Scene("a")
    let broken = scene.folder.path.appending("broken.json")
    try OutputFile.write(Array("{\"registered\": maybe}".utf8), to: broken)
    let setting =
      setting.replacing("FOLDER", with: scene.input.string).replacing("BROKEN", with: broken.string)
    for words in [["-n"], []] {
      let result = try Program.run(scene.arguments(["--set", setting] + words))
      #expect(result.status == 64, "\(result.errors)")
      #expect(result.errors.hasPrefix("error: aligned.calibration"), "\(result.errors)")
      #expect(!FileSystem.exists(scene.output))
    }
    // From a pipeline file, with its place.
    let parts = setting.dropFirst("aligned.".count).split(separator: "=")
    let pipeline = try scene.pipeline(
      """
        frames: {uses: decompress-depth}
        aligned:
          uses: align-depth
          needs: [frames]
          with: {\(parts[0]): \(parts[1])}
      """)
    let result = try scene.run("--pipeline \(pipeline)")
    #expect(result.status == 78)
    #expect(result.errors.contains("pipeline.yaml:7:"), "\(result.errors)")
    #expect(!FileSystem.exists(scene.output))
  }

  @Test("Published results stay as they are when a path is wrong or a calibration has disappeared")
  func nothingIsEmptied() throws {
    let scene = try Scene("a")
    try scene.run("--only imu", to: "other").succeeds()
    let document = try #require(
      scene.folder.path.appending("other/a/capture.json").contents)
    let capture = try document.json()
    // Without its own calibration only the file can align it.
    let name = try #require(
      try FileSystem.names(in: scene.input.appending("a")).first { $0.hasSuffix(".txt") })
    let text = String(
      decoding: try #require(scene.file(name).contents),
      as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline)
    let kept = lines.filter { !$0.contains("Extrinsics") }
    #expect(kept.count == lines.count - 1)
    try OutputFile.write(
      Array((kept.joined(separator: "\n") + "\n").utf8), to: scene.file(name))

    let folder = scene.folder.path.appending("calibrations")
    try FileSystem.makeFolder(folder)
    let device = try #require((capture["device"] as? [String: Any])?["id"] as? String)
    let file = folder.appending("\(device).json")
    let alignment = try #require(capture["alignment"])
    try file.write(json: alignment)
    let set = ["--set", "aligned.calibrationFolder=\(folder)"]
    try Program.run(scene.arguments(set)).succeeds()
    let before = try scene.digests()
    #expect(before["a/aligned"] != nil)

    #expect(
      try Program.run(scene.arguments(["--set", "aligned.calibrationFolder=/nowhere"])).status == 64
    )
    #expect(try scene.digests() == before)

    try FileSystem.remove(file)
    let gone = try Program.run(scene.arguments(set))
    #expect(gone.status == 1)
    #expect(gone.errors.contains("the file of 'calibration', which is gone"), "\(gone.errors)")
    #expect(try scene.digests()["a/aligned"] == before["a/aligned"])
    // Asked for without it, the stage does not apply: that is the user's own choice.
    try scene.run("--set aligned.calibrationFolder=default").succeeds()
    #expect(try scene.digests()["a/aligned"] == nil)
  }
}
