import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// Every file that a table or an export names is there, whatever the pictures are and whichever of them were made.
@Suite("Files that results name", .runsPrograms)
struct NamedFilesTests {
  /// What is run, one after the other into the same output.
  private static let runs: [[String]] = [
    [],
    // Pictures in another format, by a run that is about exports only.
    ["--set", "color.format=jpeg", "--until", "export-nerfstudio,export-geojson"],
    // Fewer of them, by a run that is about them only.
    ["--only", "color", "--set", "color.every=3"],
    ["--until", "aligned", "--set", "aligned.first=2", "--set", "color.last=5"],
    ["--set", "depth.range=1..2m", "--only", "depth"],
    // All exports, of some frames, then of all.
    ["--export", "colmap", "--set", "export-colmap.count=2"],
    ["--pipeline", "exports", "--set", "color.format=jpeg", "--set", "color.every=2"],
    ["--pipeline", "exports"]
      + ["color.format", "color.every", "color.last", "aligned.first", "export-colmap.count"]
      .flatMap { ["--set", "\($0)=default"] },
  ]

  @Test(
    "In every format, with holes and with selections",
    arguments: Rounds.every(
      2,
      of: [
        ["strabo"], ["vi-slam", "--generation", "android-wide"],
        ["multiscan", "--fault", "short-video", "cut-depth"],
        ["scannet", "--fault", "corrupt-depth"],
      ]))
  func exist(family: [String]) throws {
    let scene = try Self.scene(family)
    for words in Self.runs {
      let result = try Program.run(scene.arguments(words + ["-q"]))
      #expect(result.status <= 1, "\(words): \(result.errors)")
      let names = try NamedFiles(scene.output.appending("a"))
      #expect(names.missing == [], "\(words)")
      #expect(names.count > 0, "\(words)")
    }
    let table = try Table(scene.output.appending("a").appending("tables/frames.csv"))
    #expect(table["color"].contains { $0.hasSuffix(".png") })
  }

  @Test("Pictures that a pipeline does not keep are not named")
  func unkept() throws {
    let scene = try Self.scene(["multiscan"])
    let usual = Fixtures.projectRoot.appending("pipelines/default.yaml")
    let text = try usual.text()
    let changed = text.replacing(
      "    uses: decode-color\n", with: "    uses: decode-color\n    keep: false\n")
    #expect(changed != text)
    let pipeline = scene.folder.path.appending("own.yaml")
    try OutputFile.write(Array(changed.utf8), to: pipeline)
    let result = try scene.run("--pipeline \(pipeline) -q")
    try #require(result.status == 0, "\(result.errors)")
    #expect(!FileSystem.exists(scene.output.appending("a").appending("color")))
    let table = try Table(scene.output.appending("a").appending("tables/frames.csv"))
    #expect(table["color"].allSatisfy { $0.isEmpty })
    #expect(!table["depth"].contains(""))
    #expect(try NamedFiles(scene.output.appending("a")).missing == [])
  }

  @Test("Of removed pictures it is said who names them, until they are made again")
  func removed() throws {
    let scene = try Self.scene(["multiscan"])
    try scene.run("-q").succeeds()
    let removal = try Program.run("clean \(scene.output) --stage color --yes").succeeds()
    #expect(
      removal.output.hasSuffix(
        "tables names files of color, which are missing until a run by hand makes them again\n"))
    let other = try Program.run("clean \(scene.output) --stage imu --yes")
    #expect(!other.output.contains("names files"))
    try scene.run("-q").succeeds()
    #expect(try NamedFiles(scene.output.appending("a")).missing == [])
  }

  private static func scene(_ family: [String]) throws -> Scene {
    try Scene(synthesizing: "\(family) --frames 10 --width 160 --height 120 --empty-room")
  }
}

/// The files that the texts of a capture's results name.
private struct NamedFiles {
  /// `FILE: NAME`, of names that no file has.
  private(set) var missing: [String] = []
  private(set) var count = 0

  /// - Parameter capture: its folder in the output.
  init(_ capture: FilePath) throws {
    for stage in try FileSystem.names(in: capture) where !stage.hasPrefix(".") {
      let folder = capture.appending(stage)
      guard FileSystem.isFolder(folder) else { continue }
      for name in try folder.namesBelow() where Self.isText(name) {
        let text = try folder.appending(name).text()
        // `tables` names files of other stages, every export its own.
        let root = stage == "tables" ? capture : folder
        var places = [root, folder.appending(name).removingLastComponent()]
        // As EuRoC has it.
        if name.hasSuffix("data.csv") { places.append(places[1].appending("data")) }
        // As COLMAP has it: the folder of pictures is given apart.
        if stage == "export-colmap" { places.append(root.appending("images")) }
        for word in Set(Self.files(in: text)) {
          count += 1
          if !places.contains(where: { FileSystem.exists($0.appending(word)) }) {
            missing.append("\(stage)/\(name): \(word)")
          }
        }
      }
    }
  }

  private static func isText(_ name: String) -> Bool {
    !["README.txt", "artifact.json"].contains { name.hasSuffix($0) }
      && [".csv", ".txt", ".json", ".jsonl", ".yaml", ".gpx", ".geojson", ".kml"].contains {
        name.hasSuffix($0)
      }
  }

  private static func files(in text: String) -> [String] {
    text.split { !($0.isLetter || $0.isNumber || "/._-".contains($0)) }.map(String.init)
      .filter { word in
        [".png", ".jpg", ".ply", ".mcap", ".mp4", ".mkv"].contains { word.hasSuffix($0) }
      }
  }
}

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
    let device = try #require(capture["device", "id"] as? String)
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
