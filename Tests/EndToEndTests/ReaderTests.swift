import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Exports in the loaders of other people", .runsPrograms)
struct ReaderTests {
  /// One capture of each kind, exported once for all readers.
  private struct Kind: Sendable {
    var family: String
    var generation: String?
    var frames: Int
    var size: (Int, Int)

    static let all = [
      Kind(family: "arkit-scanner", frames: 20, size: (160, 120)),
      Kind(family: "scannet", frames: 24, size: (324, 242)),
      Kind(family: "multiscan", frames: 24, size: (160, 120)),
      Kind(family: "vi-slam", frames: 30, size: (160, 90)),
      Kind(family: "strabo", frames: 20, size: (160, 120)),
    ]
  }

  @Test(
    "Each opens what it reads, the geometry is right, and every deliberate mistake is noticed",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: ["arkit-scanner", "scannet", "multiscan", "vi-slam", "strabo"])
  func everyFormat(family: String) throws {
    let kind = try #require(Kind.all.first { $0.family == family })
    let scene = try ExportScene(
      family, frames: kind.frames, generation: kind.generation, size: kind.size)
    try scene.run("--pipeline exports --json").succeeds()
    try ExportInvariants(capture: scene.capture).check()
    // Between them these two have every format; mistakes in those of the others are made in `make soak`.
    let reading = try Self.open(
      scene, mistakes: Rounds.isSoak || ["arkit-scanner", "strabo"].contains(family))
    print(reading.output.lines.map { "\(family): \($0)" }.joined(separator: "\n"))
  }

  /// Opens each export, and none is there that no reader opens.
  private static func open(
    _ scene: ExportScene, mistakes: Bool = false
  ) throws -> (formats: [String], output: String) {
    let stages = try ExportInvariants(capture: scene.capture).stages
    let formats = Readers.formats.filter { stages.contains("export-\($0)") }
    #expect(Set(stages) == Set(formats.map { "export-\($0)" }))
    let reading = try Readers.check(
      formats, of: scene.capture, truth: scene.truth, mistakes: mistakes)
    #expect(reading.status == 0, "\(reading.output)")
    return (formats, reading.output)
  }

  @Test(
    "Exports of picked frames hold the frames that were picked, with their own times",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: Rounds.some(of: ["arkit-scanner", "scannet", "multiscan"], 1))
  func picked(family: String) throws {
    let kind = try #require(Kind.all.first { $0.family == family })
    let scene = try ExportScene(family, frames: 24, size: kind.size)
    try scene.run("--pipeline exports --set color.pick=sharpest --set color.count=10").succeeds()
    try ExportInvariants(capture: scene.capture).check()
    let picked = try Table(scene.capture.appending("color/picked.csv"))["frame"]
    #expect(picked.count == 10)
    let table = try Table(scene.capture.appending("tables/frames.csv"))
    #expect(table.rows.count == 24)
    for stage in ["color", "aligned"] {
      #expect(table[stage].count { !$0.isEmpty } == 10, "\(stage)")
    }
    // The readers compare what they find with the list of the export; the list is compared here.
    for format in try Self.open(scene).formats {
      let export = scene.capture.appending("export-\(format)")
      // Clouds take some of the frames, and tracks those with a position, by their own choice.
      guard !["ply", "geojson", "gpx", "kml"].contains(format) else { continue }
      let frames = try Table(export.appending("frames.csv"))["frame"]
      #expect(Set(frames).isSubset(of: picked), "\(format): \(frames)")
      let leftOut = try #require(
        export.appending("export.json").json()["leftOut"] as? [String: Int])
      let others = leftOut.filter { $0.key != "not-selected" }
      #expect(others.keys.allSatisfy { $0 == "outside-imu" }, "\(format): \(leftOut)")
      #expect(picked.count - frames.count <= others["outside-imu"] ?? 0, "\(format): \(leftOut)")
      #expect(frames.count >= 8, "\(format)")
    }
  }

  @Test(
    "Undistorted pictures come with masks of their border, parts, and the numbers of the scene",
    .enabled(if: Readers.arePresent, "needs .build/readers"))
  func masked() throws {
    let scene = try ExportScene("arkit-scanner", frames: 24)
    let lab = scene.folder.path.appending("lab.json")
    try LabCalibration.write(lab, of: scene.input)
    let formats = ["nerfstudio", "colmap"]
    var settings = [
      "color.undistort=true", "color.alpha=1", "color.calibration=\(lab)", "color.size=75%",
    ]
    for format in formats {
      settings += ["masks=true", "split=every:8", "scene=true"].map { "export-\(format).\($0)" }
    }
    settings.append("export-nerfstudio.pyramid=true")
    let words = settings.flatMap { ["--set", $0] }
    try scene.run("--export nerfstudio,colmap \(words)").succeeds()
    // They lie in the exports alone.
    #expect(!FileSystem.exists(scene.capture.appending("masks")))
    // The lens is not that of the synthetic camera, so depth does not lie on the walls.
    let reading = try Readers.check(formats, of: scene.capture, truth: nil, mistakes: false)
    #expect(reading.status == 0, "\(reading.output)")
    for format in formats {
      let export = scene.capture.appending("export-\(format)")
      let moments = try export.appending("scene.json").json()
      #expect(moments["cameras"] as? Int == 24)
      #expect(try FileSystem.names(in: export.appending("masks")).count == 24)
    }
    // Asked for again there is nothing to do.
    try scene.run("--export nerfstudio,colmap -n --exit-code").succeeds()
  }

  @Test(
    "Smaller pictures have the names and the half pixels of nerfstudio's reader",
    .enabled(if: Readers.arePresent, "needs .build/readers"))
  func pyramid() throws {
    // Neither side is a multiple of 8.
    let scene = try ExportScene("arkit-scanner", frames: 8, size: (164, 122))
    try scene.run("--export nerfstudio --set export-nerfstudio.pyramid=true").succeeds()
    let export = scene.capture.appending("export-nerfstudio")
    for folder in ["images_2", "images_4", "images_8", "depths_8"] {
      #expect(try FileSystem.names(in: export.appending(folder)).count == 8, "\(folder)")
    }
    let reading = try Readers.check(["nerfstudio"], of: scene.capture, truth: scene.truth)
    #expect(reading.status == 0, "\(reading.output)")
    #expect(
      reading.output.contains("smaller pictures half a pixel aside: caught"), "\(reading.output)")
  }

  @Test(
    "COLMAP opens its database: cameras, images and priors are those of the model; and its list of pairs",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: [("4", "&positionDeviation=50mm"), ("3.9", "")])
  func database(version: String, deviation: String) throws {
    // Seconds between the frames: they show more and more of something else.
    let scene = try ExportScene("arkit-scanner", frames: 8, "--rate", "2")
    let words = "pairs=2&database=true&databaseVersion=\(version)\(deviation)".split(separator: "&")
      .flatMap { ["--set", "export-colmap.\($0)"] }
    try scene.run("--export colmap \(words)").succeeds()
    let export = scene.capture.appending("export-colmap")
    #expect(!FileSystem.exists(export.appending("database.py")))
    let reading = try Readers.check(["colmap"], of: scene.capture, truth: scene.truth)
    #expect(reading.status == 0, "\(reading.output)")
    for mistake in ["database: prior is t", "pairs: the first picture and the last"] {
      #expect(reading.output.contains("\(mistake): caught"), "\(reading.output)")
    }
    #expect(
      reading.output.contains("database: gravity up: caught") == (version == "4"),
      "\(reading.output)")
  }

  @Test(
    "EXIF says what the tables say, and nothing else of the files changes",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: Rounds.every(
      2,
      of: [
        ("multiscan", "scannetpp", "camera"), ("multiscan", "colmap", "place"),
        ("strabo", "tum", "place"),
      ]))
  func exif(family: String, format: String, content: String) throws {
    let scene = try ExportScene(family, frames: 8)
    // scannetpp shares files that are JPEG already, the others encode their own.
    let pictures = (format == "scannetpp" ? [] : ["pictures=jpeg", "quality=90"])
      .flatMap { ["--set", "export-\(format).\($0)"] }
    try scene.run("--export \(format) \(pictures)", to: "plain").succeeds()
    try scene.run("--export \(format) \(pictures) --set export-\(format).exif=\(content)")
      .succeeds()
    let reading = try Readers.exif(
      scene.capture.appending("export-\(format)"),
      plain: scene.folder.path.appending("plain/a/export-\(format)"), capture: scene.capture,
      hasPlace: content == "place")
    #expect(reading.status == 0, "\(reading.output)")
    #expect(
      reading.output.contains(content == "place" ? "south for north" : "focal length in pixels"),
      "\(reading.output)")
  }

  @Test(
    "Exports by a measured time offset have the times of the tables and the offset, or say nothing of one",
    .enabled(if: Readers.arePresent, "needs .build/readers"))
  func shifted() throws {
    let scene = try ExportScene(
      "arkit-scanner", frames: 150, size: (64, 48), "--rate", "30", "--imu-offset", "0.0213")
    try scene.run("--pipeline exports --set imu.timeOffset=auto").succeeds()
    try ExportInvariants(capture: scene.capture).check()
    let document = try scene.capture.appending("capture.json").json()
    let measured = try #require(document["timeOffset", "offsetNs"] as? Int)
    #expect(abs(measured - 21_300_000) < 1_000_000)
    let withOffset = try Readers.formats.filter {
      try scene.capture.appending("export-\($0)/export.json").contents?.json()["timeOffset"] != nil
    }
    #expect(withOffset == ["euroc", "kalibr", "mcap", "spectacular"])
    // One of those that say nothing of it has the times of the tables.
    let whole = try Readers.check(
      withOffset + ["tum"], of: scene.capture, truth: scene.truth, mistakes: false)
    #expect(whole.status == 0, "\(whole.output)")
    // The readers notice an offset that is not that of the times.
    for name in ["capture.json"] + withOffset.map({ "export-\($0)/export.json" }) {
      let file = scene.capture.appending(name)
      var changed = try file.json()
      var offset = try changed.object("timeOffset")
      offset["offsetNs"] = measured + 1000
      changed["timeOffset"] = offset
      try file.write(json: changed)
    }
    let reading = try Readers.check(
      withOffset, of: scene.capture, truth: scene.truth, mistakes: false)
    for format in withOffset {
      let isNoticed = reading.output.lines.contains {
        $0.hasPrefix("\(format): FAILED: ") && $0.contains("time")
      }
      #expect(isNoticed, "\(reading.output)")
    }
  }
}
