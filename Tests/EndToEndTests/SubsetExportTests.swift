import Foundation
@testable import Core
@testable import Engine
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("Exports of some frames", .runsPrograms)
struct SubsetExportTests {
  /// Formats, what is asked of them, and how many frames that are of 12 at most.
  private static let subsets: [(format: String, settings: [String], most: Int)] = [
    ("nerfstudio", ["count=3"], 3), ("colmap", ["count=3", "pick=even"], 3),
    ("open3d", ["first=4", "last=6"], 3), ("scannetpp", ["every=5"], 3),
    ("scannet", ["last=2"], 3), ("sens", ["last=2", "depth=aligned"], 3), ("tum", ["every=4"], 3),
    ("euroc", ["first=4", "last=7"], 4), ("kalibr", ["every=4"], 3),
    ("spectacular", ["first=5", "last=7"], 3), ("mcap", ["every=4"], 3), ("ply", ["every=6"], 2),
    ("kitti", ["every=4"], 3),
  ]

  @Test("Every format that is made of frames is among them")
  func all() {
    let withFrames = ExportFormats.kinds.filter { $0.hasFrames }.map { $0.name.dropFirst(7) }
    #expect(Set(Self.subsets.map { $0.format[...] }) == Set(withFrames))
  }

  private static func words(_ format: String, _ settings: [String]) -> [String] {
    settings.flatMap { ["--set", "export-\(format).\($0)"] }
  }

  /// Stages of the one capture of a run that did something.
  private static func ran(_ result: Program.Result) throws -> [String: Int] {
    let stages = try ExportScene.stages(result)
    return stages.filter { $0.value["outcome"] as? String == "made" }
      .mapValues { $0["frames"] as? Int ?? -1 }
  }

  @Test(
    "The files are those of an export from all pictures, and nothing was made of the other frames")
  func sameFiles() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    let all = Self.subsets.flatMap { Self.words($0.format, $0.settings) }
    // Everything is asked for: color/ and all others are whole.
    try scene.run("--pipeline exports -q \(all)", to: "whole").succeeds()
    for subset in Rounds.every(2, of: Self.subsets) {
      let stage = "export-\(subset.format)"
      let result = try scene.run(
        "--until \(stage) --json \(Self.words(subset.format, subset.settings))",
        to: subset.format)
      #expect(result.status == 0, "\(stage): \(result.errors)")
      let (one, other) = (
        try scene.files(of: stage, in: subset.format), try scene.files(of: stage, in: "whole")
      )
      let differing = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
      #expect(differing.isEmpty, "\(stage): \(differing.sorted())")
      let ran = try Self.ran(result)
      #expect(ran.values.allSatisfy { $0 <= subset.most }, "\(stage): \(ran)")
      let folder = scene.folder.path.appending(subset.format).appending(scene.id)
      let left = try FileSystem.names(in: folder).filter { !$0.hasPrefix(".") }.sorted()
      #expect(left == ["capture.json", stage], "\(stage): \(left)")
      try ExportInvariants(capture: folder).check()
    }
  }

  @Test("What was made for a subset is up to date, and stays so when the whole is made later")
  func upToDate() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    let words = ["--until", "export-colmap", "--set", "export-colmap.count=3", "--json"]
    #expect(try Self.ran(try scene.run("\(words)")).keys.contains("export-colmap"))
    #expect(try Self.ran(try scene.run("\(words)")).isEmpty)
    let status = try Program.run("status \(scene.output) --json")
    #expect(status.output.contains(#""export-colmap""#))
    #expect(!status.output.contains(#""stale""#), "\(status.output)")
    // Asked for by name, color is whole.
    let usual = try scene.run("--json")
    #expect(try Self.ran(usual)["color"] == 12)
    #expect(try FileSystem.names(in: scene.capture.appending("color")).count == 13)
    #expect(try Self.ran(try scene.run("\(words)")).isEmpty, "the export stays as it was made")
    // Another subset is another choice.
    let more = try scene.run("--export colmap --set export-colmap.count=4 --json")
    #expect(try Self.ran(more)["export-colmap"] == 4)
    #expect(try FileSystem.names(in: scene.capture.appending("color")).count == 13)
    // The output keeps its choice until it is taken back.
    #expect(try Self.ran(try scene.run("--export colmap --json")).isEmpty)
    // All frames are no subset: the export is made of color/.
    let whole = try scene.run("--export colmap --set export-colmap.count=default --json")
    #expect(try Self.ran(whole).keys.sorted() == ["export-colmap"])
  }

  @Test("Color that is asked for as well, by name or by another format, is whole and made once")
  func together() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    for (index, words) in [
      ["--pipeline", "exports", "--until", "color", "--until", "export-colmap"],
      ["--export", "colmap,tum"],
    ].enumerated() {
      let result = try scene.run("\(words) --set export-colmap.count=3 --json", to: "out\(index)")
      let ran = try Self.ran(result)
      #expect(ran["color"] == 12, "\(ran)")
      #expect(ran["export-colmap"] == 3)
      #expect(!ran.keys.contains { $0.hasPrefix("export-colmap.") }, "\(ran)")
    }
  }

  @Test("Where color is there, its pictures are taken over, and gray ones are made of a few")
  func fromColor() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    try scene.run("-q").succeeds()
    let result = try scene.run(
      "--until export-euroc --set export-euroc.first=4 --set export-euroc.last=7 --json")
    let ran = try Self.ran(result)
    #expect(
      ran["color"] == nil && (1...4).contains(ran["export-euroc.gray-pictures"] ?? 0), "\(ran)")
    let aligned = try scene.run("--until export-nerfstudio --set export-nerfstudio.count=3 --json")
    #expect(try Self.ran(aligned).keys.sorted() == ["export-nerfstudio"])
  }

  @Test("What color or aligned was told to leave out is not selected, not lost")
  func skipped() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    try scene.run(
      """
      --pipeline exports --until color --until aligned --until export-colmap --until \
      export-nerfstudio --until export-kalibr --set color.every=2 --set aligned.every=3 --set \
      export-colmap.points=0
      """
    ).succeeds()
    #expect(
      try FileSystem.names(in: scene.capture.appending("aligned"))
        == ["000000.png", "000006.png", "artifact.json"])
    for (stage, frames) in [("export-colmap", 6), ("export-nerfstudio", 2)] {
      let json = try Data(
        contentsOf: URL(
          filePath: scene.capture.appending(stage).appending("export.json").string)
      ).json()
      #expect(json["frames"] as? Int == frames, "\(stage)")
      #expect(json["leftOut"] as? [String: Int] == ["not-selected": 12 - frames], "\(stage)")
    }
    // Through the inner stage of gray pictures, too.
    let kalibr = try scene.capture.appending("export-kalibr/export.json").text()
    #expect(!kalibr.contains("no-picture") && kalibr.contains("not-selected"), "\(kalibr)")
  }

  @Test("Depth on another grid fails the formats that write it, and no others")
  func grids() throws {
    let scene = try ExportScene("arkit-scanner", frames: 12)
    let result = try scene.run(
      "--pipeline exports --set aligned.grid=color/2 --set export-nerfstudio.depth=none --json")
    let stages = try ExportScene.stages(result)
    let failed = stages.filter { $0.value["outcome"] as? String == "failed" }.keys.sorted()
    #expect(failed == ["export-mcap", "export-open3d", "export-tum"])
    for stage in failed {
      let message = stages[stage]?["message"] as? String ?? ""
      #expect(message.contains("--set aligned.grid=color"), "\(stage): \(message)")
    }
    let json = try scene.capture.appending("export-colmap/export.json").json()
    #expect(json["points"] as? Int ?? 0 > 0, "\(json)")
  }

  @Test(
    "first and last crop the IMU to the frames and a margin, which one name sets for all formats")
  func margin() throws {
    let scene = try ExportScene("arkit-scanner", frames: 60)
    func samples(_ more: [String], _ name: String) throws -> [String: Int] {
      try scene.run("--export euroc,kalibr,sens,mcap,spectacular -q \(more)", to: name).succeeds()
      var counts: [String: Int] = [:]
      for format in ["euroc", "kalibr", "sens", "mcap", "spectacular"] {
        let file = scene.folder.path.appending(name).appending(scene.id)
          .appending("export-\(format)").appending("export.json")
        let json =
          try JSONSerialization.jsonObject(with: file.data())
          as? [String: Any]
        counts[format] = (json?["imu"] as? [String: Int])?["samples"]
      }
      return counts
    }
    let selection = ["euroc", "kalibr", "sens", "mcap", "spectacular"].flatMap {
      ["--set", "export-\($0).first=20", "--set", "export-\($0).last=29"]
    }
    let whole = try samples([], "whole")
    let usual = try samples(selection + ["--set", "imu.margin=1h"], "wide")
    #expect(usual == whole, "a margin beyond both ends leaves nothing out")
    let narrow = try samples(selection + ["--set", "imu.margin=50ms"], "narrow")
    for (format, count) in narrow {
      let all = whole[format] ?? 0
      #expect(count > 0 && count < all / 2, "\(format): \(count) of \(all)")
    }
    let none = try scene.run("--export euroc --set imu.margin=1", to: "none")
    #expect(
      none.status == 64 && none.errors.contains("imu.margin: '1' is not a duration with its unit"),
      "\(none.errors)")
  }

  @Test(
    "A segment has the frames up to the next jump, the IMU samples around them, and nothing of the others is made"
  )
  func segments() throws {
    let scene = try ExportScene("arkit-scanner", frames: 40, "--fault", "pose-jump")
    let formats = ["tum", "euroc", "mcap", "ply"]
    let words =
      formats.flatMap { Self.words($0, ["segment=2"]) }
      + ["--set", "imu.margin=50ms", "--set", "export-ply.every=2"]
    let until = formats.map { "export-\($0)" }.joined(separator: ",")
    let result = try scene.run("--until \(until) --json \(words)")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Self.ran(result).values.allSatisfy { $0 <= 20 })
    try scene.run("--export \(formats.joined(separator: ",")) -q \(words)", to: "whole").succeeds()
    for format in formats {
      let stage = "export-\(format)"
      #expect(try scene.files(of: stage) == scene.files(of: stage, in: "whole"), "\(stage)")
      let folder = scene.capture.appending(stage)
      let frames = try Table(folder.appending("frames.csv"))["frame"].compactMap { Int($0) }
      #expect(frames.min() == 20 && frames.count >= 9, "\(stage): \(frames)")
      let json =
        try JSONSerialization.jsonObject(
          with: folder.appending("export.json").data()) as? [String: Any]
      let samples = (json?["imu"] as? [String: Int])?["samples"]
      // Of 38 in the whole recording.
      if let samples { #expect(samples > 12 && samples < 28, "\(stage): \(samples)") }
      #expect(json?["segment"] as? Int == 2 && (json?["segments"] as? [Any])?.count == 2)
    }
    try ExportInvariants(capture: scene.capture).check()
    let refused = try scene.run(
      "--export ply -n --set export-ply.segment=1 --set export-ply.axes=camera")
    #expect(
      refused.errors.contains("segment: has no effect without axes=world"), "\(refused.errors)")
  }
}
