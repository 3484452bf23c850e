import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine
@testable import Stages

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

@Suite("The page about exports", .runsPrograms)
struct ExportPageTests {
  private static let page: String = {
    let file = Fixtures.projectRoot.appending("docs/exports.md")
    return (try? file.text()) ?? ""
  }()

  /// The content of blocks of code in a language, in order.
  private static func blocks(_ language: String) -> [String] {
    page.components(separatedBy: "\n```").enumerated().compactMap { index, block in
      guard index % 2 == 1, block.hasPrefix(language + "\n") else { return nil }
      return String(block.dropFirst(language.count + 1)) + "\n"
    }
  }

  @Test("Every command in it works, one after the other")
  func commands() throws {
    let commands = Self.blocks("sh").joined().lines.map(String.init)
    #expect(commands.count >= 5)
    let folder = try TemporaryFolder()
    try Program.synthesizeSamples(in: folder.path)
    for command in commands {
      var words = command.split(separator: " ").map(String.init)
      #expect(words.removeFirst() == "scanmill", "\(command)")
      let result = try Program.run(words, in: folder.path)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
  }

  @Test("Its tables name every format, and no other")
  func formats() throws {
    let names: [String] = try Program.run("list stages").output.lines
      .compactMap { line in line.split(separator: " ").first.map(String.init) }
    let stages: [String] = names.filter { name in
      name.hasPrefix("export-") && !["export-images", "export-tables"].contains(name)
    }.map { String($0.dropFirst(7)) }
    #expect(Set(stages) == Set(ExportFormats.kinds.map { String($0.name.dropFirst(7)) }))
    let rows = Self.page.lines.filter { $0.hasPrefix("| ") }
    let tools = Self.section("Which format for which tool")
    let families = Self.section("What each family can give")
    for format in stages {
      #expect(tools.contains("`\(format)`"), "\(format)")
      #expect(families.contains("`\(format)`"), "\(format)")
    }
    #expect(rows.count > 25)
  }

  @Test("Every format is in the tables that no build compares")
  func places() throws {
    func text(_ name: String) throws -> String {
      try Fixtures.projectRoot.appending(FilePath(name).components).text()
    }
    let benchmark = try text("Benchmarks/exports.py")
    let pipeline = try text("pipelines/exports.yaml")
    for kind in ExportFormats.kinds {
      let format = kind.name.dropFirst(7)
      #expect(benchmark.contains(try Regex("\\b\(format)\\b")), "\(format)")
      #expect(pipeline.contains(kind.name), "\(format)")
      let reader = Fixtures.projectRoot.appending("Tests/Readers/read_\(format).py")
      #expect(FileSystem.exists(reader), "\(reader)")
    }
    let guide = try text("docs/adding-a-format.md")
    for match in guide.matches(of: #/\| `([\w/]+\.\w+)` \|/#) {
      let place = Fixtures.projectRoot.appending(FilePath(String(match.1)).components)
      #expect(FileSystem.exists(place) || match.1.contains("NAME"), "\(match.1)")
    }
  }

  private static func section(_ title: String) -> String {
    let parts = page.components(separatedBy: "\n## ")
    return parts.first { $0.hasPrefix(title) } ?? ""
  }
}

@Suite("Exports in trouble", .runsPrograms)
struct ExportTroubleTests {
  @Test("Killed at any moment, an export is whole or absent, and the next run finishes the work")
  func killed() throws {
    let scene = try ExportScene("arkit-scanner", frames: 30)
    try scene.run("--until tables -q").succeeds()
    let words = [
      "run", scene.input.string, "--output", scene.output.string, "--pipeline", "exports",
    ]
    var kills = 0
    for number in Rounds.every(2, of: Array(0..<6)) {
      // As soon as it has made so many files more.
      let before = fileCount(scene)
      let running = try Program.start(words)
      if try running.kill(when: { fileCount(scene) > before + 8 * number }) { kills += 1 }
      // Workers end with their parent, not before it.
      try waitForLock(scene)
      try ExportInvariants(capture: scene.capture).check()
      for stage in try ExportInvariants(capture: scene.capture).stages {
        #expect(
          FileSystem.exists(scene.capture.appending(stage).appending("artifact.json")), "\(stage)")
      }
    }
    #expect(kills > 0)
    try scene.run("--pipeline exports").succeeds()
    try scene.run("--pipeline exports -q", to: "whole").succeeds()
    let whole = scene.folder.path.appending("whole").appending(scene.id)
    for stage in try ExportInvariants(capture: whole).stages {
      let (one, other) = (try scene.files(of: stage), try scene.files(of: stage, in: "whole"))
      let differing = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
      #expect(differing.isEmpty, "\(stage): \(differing.sorted())")
    }
  }

  private func waitForLock(_ scene: ExportScene) throws {
    let lock = scene.capture.appending(".scanmill/lock")
    Waiting.until("the end of the workers") { !FileLock.isHeld(at: lock) }
  }

  /// Files of the capture's output, those that are not published yet included.
  private func fileCount(_ scene: ExportScene) -> Int {
    (try? scene.capture.namesBelow().count) ?? 0
  }

  @Test(
    "A disk that fills up in the middle of a bag fails the export alone, and leaves nothing half",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"),
    arguments: ["mcap", "sens"])
  func full(format: String) throws {
    let scene = try ExportScene("arkit-scanner", frames: 40, size: (640, 480))
    try FileSystem.makeFolder(scene.output)
    let listing = scene.folder.path.appending("listing")
    let first = "\(Program.path) run \(scene.input) --output \(scene.output)"
    let result = try DiskTests.isolated(
      """
      mount -t tmpfs -o size=200m tmpfs \(scene.output)
      \(first) -q || exit 9
      used=$(du -sm \(scene.output) | cut -f1)
      mount -o remount,size=$((used + 4))m \(scene.output) || exit 8
      \(first) --export \(format); code=$?
      find \(scene.output)/a > \(listing)
      exit $code
      """)
    #expect(result.status == 73, "\(result.errors)")
    #expect(result.errors.contains("no space left"), "\(result.errors)")
    let names = try listing.text()
    #expect(names.contains("/a/color/artifact.json\n"))
    #expect(!names.contains("/a/export-\(format)/"))
    #expect(!names.contains(".staging/"))
  }
}
