import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("run --export", .runsPrograms)
struct ExportCommandTests {
  @Test("makes the named formats beside the pipeline; --until only what they need")
  func selection() throws {
    let scene = try ExportScene("arkit-scanner")
    func made() throws -> [String] {
      try FileSystem.names(in: scene.capture)
        .filter { !$0.hasPrefix(".") && $0 != "capture.json" }
    }
    try scene.run("--until export-open3d").succeeds()
    #expect(try made() == ["aligned", "color", "export-open3d"])
    let long = try scene.run("--pipeline exports --until export-open3d")
    #expect(long.errors.contains("nothing to do"))
    try scene.run("--export open3d").succeeds()
    #expect(
      try made() == ["aligned", "color", "depth", "export-open3d", "imu", "preview", "tables"])
  }

  @Test(
    "names the nearest format for one that it does not know",
    arguments: [("opn3d", "open3d"), ("export-open3", "open3d"), ("open3d,opend3", "open3d")])
  func unknown(given: String, nearest: String) throws {
    let scene = try ExportScene("strabo", frames: 2)
    let result = try scene.run("--export \(given)")
    #expect(result.status == 64)
    #expect(result.errors.contains("did you mean '\(nearest)'?"), "\(result.errors)")
  }

  @Test("Pictures of captures without depth are exported as JPEG as well")
  func jpegWithoutDepth() throws {
    let scene = try ExportScene("strabo", frames: 4)
    try scene.run("--until export-tum --set export-tum.pictures=jpeg").succeeds()
    let names = try FileSystem.names(in: scene.capture.appending("export-tum/rgb"))
    #expect(names.count == 4 && names.allSatisfy { $0.hasSuffix(".jpg") }, "\(names)")
  }

  @Test("Bytes are the same for any number of cores, in any folder")
  func sameBytes() throws {
    let scene = try ExportScene("arkit-scanner")
    try scene.run("--pipeline exports -j 1", to: "one").succeeds()
    try scene.run("--pipeline exports -j 8", to: "two/deep").succeeds()
    let stages = try ExportInvariants(capture: scene.folder.path.appending("one/a")).stages
    #expect(stages.count > 8)
    for stage in stages {
      let one = try scene.files(of: stage, in: "one")
      #expect(try one == scene.files(of: stage, in: "two/deep"), "\(stage)")
    }
  }

  @Test("Digests are the same however files are shared; only export.json tells the way")
  func sharing() throws {
    let scene = try ExportScene("arkit-scanner")
    var all: [[String: String]] = []
    for way in ["link", "copy", "auto"] {
      try scene.run("--export open3d --set export-open3d.share=\(way)", to: way).succeeds()
      var files = try scene.files(of: "export-open3d", in: way)
      files["export.json"] = nil
      all.append(files)
      let record = scene.folder.path.appending(way).appending("a/export-open3d/export.json")
      let text = try record.text()
      if way != "auto" { #expect(text.contains("\"shared\" : \"\(way)\"")) }
    }
    #expect(all[0].count > 24)
    #expect(Set(all).count == 1)
    // A linked picture is the same file, a copied one is not.
    func inode(_ path: String) throws -> UInt64 {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: scene.folder.path.appending(path).string)
      return attributes[.systemFileNumber] as? UInt64 ?? 0
    }
    let name = "color/000003.png"
    #expect(try inode("link/a/\(name)") == inode("link/a/export-open3d/\(name)"))
    #expect(try inode("copy/a/\(name)") != inode("copy/a/export-open3d/\(name)"))
  }

  @Test("Each stage is explained in one sentence with what it needs")
  func explained() throws {
    let result = try Program.run("list stages")
    for format in ["open3d"] {
      let line = result.output.lines.first { $0.hasPrefix("export-\(format) ") }
      #expect(line?.contains("needs") == true, "export-\(format): \(line ?? "absent")")
    }
  }

  @Test("Masks that an export takes over are made for it, whichever request named the export")
  func masksOfEarlierRequest() throws {
    let scene = try ExportScene("stray-scanner", frames: 3)
    let asked: Words = "--set export-nerfstudio.masks=true --set masks.minimumConfidence=2"
    // Nothing that it reads is there yet.
    #expect(try scene.run("--only nerfstudio \(asked.list)").status == 1)
    let status = try Program.run("status \(scene.output)")
    #expect(status.unwrapped.contains("`--until masks,export-nerfstudio`"), "\(status.output)")
    #expect(!status.output.contains("Copy the capture"), "\(status.output)")
    try scene.run("").succeeds()
    let masks = scene.capture.appending("export-nerfstudio/masks")
    #expect(try FileSystem.names(in: masks).count == 3)
    #expect(try scene.run("--export nerfstudio -n").output.contains("1 up-to-date"))
    try scene.run("--only nerfstudio --set masks.minimumConfidence=1").succeeds()
    #expect(try FileSystem.names(in: masks).count == 3)
  }
}
