import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The scripts of Benchmarks/ that make the tables of docs/performance.md", .runsPrograms)
struct BenchScriptTests {
  private static let scripts = Fixtures.projectRoot.appending("Benchmarks")

  static let hasPython = ForeignPrograms.has(
    "python3", else: "the scripts of Benchmarks/ are not run")

  private static func run(_ words: [String]) throws -> Program.Result {
    try Running("/usr/bin/env", ["python3"] + words, in: scripts)
      .finish()
  }

  private static func script(_ name: String, _ words: [String]) throws -> Program.Result {
    try run([scripts.appending(name).string] + words)
  }

  /// A folder with an empty one to work in and a small capture.
  private static func scene() throws -> (TemporaryFolder, work: FilePath, capture: Substring) {
    let folder = try TemporaryFolder()
    let work = folder.path.appending("work")
    try FileSystem.makeFolder(work)
    let made = try Program.synthesize(
      "vi-slam --frames 3 --width 160 --height 120", to: folder.path.appending("in"))
    return (folder, work, try #require(made.output.lines.first))
  }

  @Test("The links of the package lead to files of the tree")
  func links() throws {
    let sources = Self.scripts.appending("Sources")
    for program in try FileSystem.names(in: sources) {
      for name in try FileSystem.names(in: sources.appending(program)) {
        let file = sources.appending(program).appending(name)
        #expect((try? file.data()) != nil, "\(file)")
      }
    }
  }

  @Test("What they compute is right", .enabled(if: hasPython, "needs python3"))
  func arithmetic() throws {
    let result = try Self.run(["-m", "unittest", "-q", "test_scripts"]).succeeds()
    #expect(result.errors.contains("Ran "))
  }

  @Test(
    "They tell what they take, and refuse what is not there",
    .enabled(if: hasPython, "needs python3"), arguments: ["real.py", "night.py", "performance.py"])
  func help(name: String) throws {
    let help = try Self.script(name, ["--help"]).succeeds()
    #expect(help.output.contains(name == "performance.py" ? "--reports" : "--json"))
    #expect(try Self.script(name, ["/nowhere", "--captures", "0"]).status != 0)
    let absent = try Self.script(name, ["/nowhere"])
    #expect(absent.status == 1)
    #expect(absent.errors.hasPrefix("error: "), "\(absent.errors)")
  }

  @Test(
    "One command makes the tables, the samples and the plot of a video, and leaves nothing else",
    .enabled(if: hasPython, "needs python3"))
  func real() throws {
    let (folder, work, capture) = try Self.scene()
    func path(_ name: String) -> String { folder.path.appending(name).string }
    let result = try Self.script(
      "real.py",
      [
        "c=\(capture)", "m=\(capture)/video.mp4", "--after", Program.path.string, "--before",
        Program.path.string, "--times", "1", "--no-peers", "--no-compact", "--folder", work.string,
        "--json", path("r.json"), "--markdown", path("r.md"), "--plot", path("r.svg"),
      ])
    try #require(result.status == 0, "\(result.errors)")
    let data = try FilePath(path("r.json")).data()
    let report = try data.json()
    let videos = try report.objects("videos")
    #expect(videos.map { $0["name"] as? String } == ["c", "m"])
    for video in videos {
      #expect(video["frames"] as? Int == 3)
      #expect(video["pixels"] as? Int == 3 * 160 * 120)
      let samples = try video.object("samples")
      for kind in ["decode", "convert", "copy", "before-fast", "after-fast", "after-one"] {
        #expect((samples[kind] as? [Any])?.count == 1, "\(kind)")
      }
    }
    let tables = try FilePath(path("r.md")).text()
    #expect(tables.contains("above the floor, ms/Mpx"))
    #expect(try FilePath(path("r.svg")).text().contains("<svg"))
    #expect(try FileSystem.names(in: work).isEmpty)
    // The samples alone make the same tables.
    let again = try Self.script("real.py", ["--from-json", path("r.json")]).succeeds()
    #expect(again.output == tables)
  }

  @Test(
    "A stored report gives the page's beginning and its plot; what stands around it stays",
    .enabled(if: hasPython, "needs python3"))
  func stored() throws {
    let folder = try TemporaryFolder()
    let reports = folder.path.appending("reports")
    try FileSystem.makeFolder(reports)
    try Self.scripts.appending("test_report.json").copy(to: reports.appending("kitchen.json"))
    let page = folder.path.appending("page.md")
    func write(_ text: String) throws {
      try page.write(text)
    }
    let marks = ("<!-- made by Benchmarks/performance.py -->", "<!-- end of what is made -->")
    try write("# Title\n\n\(marks.0)\nold\n\(marks.1)\n\nrest\n")
    let words = ["--reports", reports.string, "--write", page.string]
    for _ in 0..<2 {
      let result = try Self.script("performance.py", words)
      #expect(result.status == 0 && result.output.isEmpty, "\(result.errors)")
      let text = try page.text()
      #expect(text.hasPrefix("# Title\n\n\(marks.0)\nColor export (`fast`"))
      #expect(text.hasSuffix("(performance.svg)\n\(marks.1)\n\nrest\n"), "\(text)")
      #expect(
        text.contains(
          "| kitchen | recorded | 100 × 2.00 | 8.0× | 3.0× | 6.0× | 1.33× | 1.11× | 1.50 |"))
      #expect(!text.contains("old"))
    }
    let plot = try folder.path.appending("performance.svg").text()
    #expect(plot.split(separator: "<rect ").count - 1 == 5)
    #expect(plot.contains("scanmill, fast 15.0"))
    // A page without the marks is left as it is.
    try write("# Another page\n")
    let refused = try Self.script("performance.py", words)
    #expect(refused.status == 1 && refused.errors.contains("are not there"), "\(refused.errors)")
    #expect(try page.text() == "# Another page\n")
  }

  @Test(
    "One command measures captures and movies and makes the page's beginning",
    .enabled(if: hasPython && Rounds.isSoak, "needs python3 and SCANMILL_SOAK=1"))
  func performance() throws {
    let (folder, work, capture) = try Self.scene()
    let reports = folder.path.appending("reports")
    let words = [
      "room=\(capture)", "movie=\(capture)/video.mp4", "--program", Program.path.string,
      "--repeat", "1", "--warmup", "0", "--quiet", "0", "--folder", work.string, "--reports",
      reports.string, "--plot", folder.path.appending("p.svg").string,
    ]
    let result = try Self.script("performance.py", words).succeeds()
    for name in ["room", "movie"] {
      #expect(result.output.contains("| \(name) | recorded | 3 × 0.02 |"), "\(result.output)")
    }
    #expect(try FileSystem.names(in: reports) == ["movie.json", "room.json"])
    #expect(try FileSystem.names(in: work).isEmpty)
    #expect(FileSystem.exists(folder.path.appending("p.svg")))
    // The reports are kept: nothing is measured again.
    let again = try Self.script("performance.py", words)
    #expect(again.output == result.output && again.errors.contains("kept: "), "\(again.errors)")
  }

  @Test(
    "A night of two small captures has its table and its shares",
    .enabled(if: hasPython && Rounds.isSoak, "needs python3 and SCANMILL_SOAK=1"))
  func night() throws {
    let (folder, work, capture) = try Self.scene()
    let json = folder.path.appending("n.json").string
    let result = try Self.script(
      "night.py",
      [
        "\(capture)", "\(capture)/video.mp4", "--captures", "2", "--program",
        Program.path.string, "--folder", work.string, "--json", json,
      ])
    try #require(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("supervisor and planning"))
    let report = try FilePath(json).data().json()
    let figures = try report.object("figures")
    #expect(figures["captures"] as? Int == 2)
    #expect(try #require(figures["floorSeconds"] as? Double) > 0)
    for way in ["one", "two"] {
      let way = try figures.object(way)
      #expect(try #require(way["byFloor"] as? Double) > 0)
      #expect(try #require(way["peakMemoryBytes"] as? Int) > 1 << 20)
    }
    #expect(try FileSystem.names(in: work).isEmpty)
  }

  @Test(
    "A tree of captures on the fake cluster has its figures, and a second run submits nothing",
    .enabled(if: hasPython, "needs python3"))
  func cluster() throws {
    let folder = try TemporaryFolder()
    let json = folder.path.appending("c.json").string
    let group = Rounds.of(2, soak: 5)
    let result = try Self.script(
      "cluster.py",
      [
        "--captures", "\(6 * group)", "--group", "\(group)", "--program", Program.path.string,
        "--folder",
        folder.path.string, "--json", json,
      ])
    try #require(result.status == 0, "\(result.errors)")
    let report = try FilePath(json).data().json()
    let figures = try report.object("figures")
    #expect(figures["elements"] as? Int == 6)
    #expect(figures["sbatch"] as? Int == 1)
    #expect(try #require(figures["peakMemoryBytes"] as? Int) > 1 << 20)
    #expect(try FileSystem.names(in: folder.path) == ["c.json"])
    #expect(try Self.script("cluster.py", ["--program", "/nowhere"]).errors.hasPrefix("error: "))
  }
}
