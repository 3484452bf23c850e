import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("The page about outputs, and what the program writes", .runsPrograms)
struct OutputsPageTests {
  /// Entries that only options of somebody bring about.
  private static let optional: Set<String> = [
    "color/NNNNNN.jpg", "depth-frames/store.json", "depth-frames/chunk-0000.raw",
    "jpeg-pictures/NNNNNN.jpg", "gray-pictures/NNNNNN.png", "export-kalibr/imu.yaml",
    "export-tum/rgb/TIME.jpg", "export-nerfstudio/images/frame_NNNNNN.jpg",
    "export-colmap/images/NNNNNN.jpg", "export-open3d/color/NNNNNN.jpg",
    "export-scannet/color/N.png", "export-spectacular/data.mkv",
    "color2/NNNNNN.png", "color2/NNNNNN.jpg", "color2/frames.csv", "color2/intrinsics.csv",
    "masks/NNNNNN.png", "export-*/scene.json", "export-kitti/sequences/00/image_2/NNNNNN.jpg",
    "export-nerfstudio/masks/frame_NNNNNN.png", "export-colmap/masks/NNNNNN.png.png",
    "export-colmap/masks/NNNNNN.jpg.png", "export-colmap/sparse/0/test.txt",
    "preview/sheet.png", "preview/imu.png", "previews/sheet.png", "previews/imu.png",
    "runs/<run-id>/notify.log", "runs/<run-id>/slurm/…",
    "runs/<run-id>/logs/<capture-id>/worker.log",
    ".staging/…", ".failed/…",
  ]

  /// Whether each file is described; returns the patterns that were met.
  private func check(_ output: FilePath, _ page: OutputsPage) throws -> Set<String> {
    var met: Set<String> = []
    let captures = try FileSystem.names(in: output)
      .filter { FileSystem.exists(output.appending($0).appending("capture.json")) }
    for file in try output.filesBelow() {
      let parts = file.split(separator: "/", maxSplits: 1).map(String.init)
      let isOfCapture = parts.count == 2 && captures.contains(parts[0])
      let name = isOfCapture ? parts[1] : file
      let fitting = (isOfCapture ? page.ofCapture : page.ofOutput)
        .filter { name.wholeMatch(of: $0.regex) != nil }
      #expect(!fitting.isEmpty, "docs/outputs.md does not tell of \(file)")
      met.formUnion(fitting.map(\.text))
      if isOfCapture, name.hasSuffix(".csv"), !name.hasPrefix(".") {
        try check(output.appending(file), name, page)
      }
    }
    return met
  }

  /// Columns in their order, each with a unit.
  private func check(_ file: FilePath, _ name: String, _ page: OutputsPage) throws {
    let isList = name.hasSuffix("/frames.csv") && name != "tables/frames.csv"
    // Other tables of exports are those of other tools, with units in their headers.
    if name.hasPrefix("export-"), !isList { return }
    let text = try file.text()
    let header = text.split(separator: "\n", maxSplits: 1).first ?? ""
    let written = header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let told = page.columns[isList ? "frames.csv" : name] ?? []
    // A column that only captures have that recorded it.
    let names = told.map(\.name).filter { $0 != "altitude_m" || written.contains($0) }
    #expect(written == names, "\(name)")
    #expect(told.allSatisfy { !$0.unit.isEmpty }, "\(name): a column without unit")
    if name == "imu/imu.csv" { try checkSensors(file, page) }
  }

  private func checkSensors(_ file: FilePath, _ page: OutputsPage) throws {
    let capture = file.removingLastComponent().removingLastComponent()
    let family = try #require(capture.appending("capture.json").json()["family"] as? String)
    let found = Set(try Table(file)["sensor_type"])
    let told = page.sensors[family] ?? []
    #expect(found.isSubset(of: told), "\(family): \(found.subtracting(told).sorted())")
  }

  /// Each family has a row about conversion and one about its clock, which names the clocks of its captures.
  private func checkClocks(_ output: FilePath) throws {
    let text = try Fixtures.projectRoot.appending("docs/outputs.md").text()
    let start = try #require(text.range(of: "## What is converted, by family")).upperBound
    let end = try #require(text[start...].range(of: "\n## ")).lowerBound
    let rows = text[start..<end].lines.filter { $0.hasPrefix("| `") }
    let known =
      try Program.run("list families --json").json()["families"] as? [[String: Any]]
    let families = (known ?? []).compactMap { $0["name"] as? String }
    #expect(rows.count == 2 * families.count && families.count >= 9)
    for family in families {
      #expect(rows.count { $0.hasPrefix("| `\(family)` |") } == 2, "\(family)")
    }
    for capture in try FileSystem.names(in: output) {
      let file = output.appending(capture).appending("capture.json")
      guard FileSystem.exists(file) else { continue }
      let json = try file.json()
      let family = try #require(json["family"] as? String)
      let base = try #require(json.object("clock")["base"] as? String)
      let row = try #require(rows.last { $0.hasPrefix("| `\(family)` |") })
      #expect(row.contains("`\(base)`"), "\(family): \(base)")
    }
  }

  @Test(
    "It tells of every file, column and sensor of the synthetic families, and of no other file")
  func families() throws {
    let page = try OutputsPage()
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    let output = folder.path.appending("out")
    for (family, generation) in [
      ("scannet", "v1"), ("arkit-scanner", "g6"), ("arkit-scanner", "scannetpp"),
      ("multiscan", "ios-lidar"), ("multiscan", "ios-single"), ("multiscan", "android-plain"),
      ("vi-slam", "v1"), ("vi-slam", "android"), ("strabo", "v1"),
      ("stray-scanner", "png"), ("stray-scanner", "raw-imu"), ("3d-scanner-app", "lidar"),
      ("record3d", "r3d-folder"),
    ] {
      // The aspect of the family's depth.
      let size =
        switch family {
        case "scannet": ["324", "242"]
        case "record3d": ["120", "160"]
        default: ["160", "120"]
        }
      let depth = family == "scannet" ? Scene.smallDepth : []
      try Program.synthesize(
        """
        \(family) --generation \(generation) --frames 6 --seed 3 --width \(size[0]) \
        --height \(size[1]) \(depth) --id \(family)-\(generation)
        """, to: input)
    }
    // `quality` first: color/measures.csv is written where both are made in one run.
    for pipeline in ["quality", "default", "exports", "preview", "point-cloud"] {
      // The first run has workers; one process for thirteen captures takes half of the time.
      let inline = pipeline == "quality" ? [] : ["--inline"]
      try Program.run("run \(input) --output \(output) --pipeline \(pipeline) \(inline)").succeeds()
    }
    // Into an output of its own, which has these two stages alone.
    let other = folder.path.appending("time")
    try Program.run(
      "run \(input) --output \(other) --pipeline time-offset --only time-offset,tables"
    ).succeeds()
    let picked = folder.path.appending("picked")
    try Program.run(
      """
      run \(input) --output \(picked) --family stray-scanner --until aligned,export-colmap \
      --set color.pick=sharpest --set color.count=2 --set aligned.confidence=true \
      --set export-colmap.database=true --set export-colmap.pairs=8
      """
    ).succeeds()
    try checkClocks(output)
    for more in [[], ["--redact"]] {
      try Program.run("report \(output) \(more)").succeeds()
    }
    let told = page.columns["report --format csv", default: []].map(\.name)
    let report = try Program.run("report \(output) --format csv").output
    #expect(report.hasPrefix(told.joined(separator: ",") + "\n"))
    let status = try Program.run("status \(output) --csv").output
    #expect(
      status.hasPrefix(
        told.filter { !["seconds", "frames", "stage"].contains($0) }.joined(separator: ",") + "\n"))
    let met = try check(output, page).union(check(other, page)).union(check(picked, page))
    let patterns = Set((page.ofCapture + page.ofOutput).map(\.text))
    #expect(patterns.count > 60)
    let idle = patterns.subtracting(met).subtracting(Self.optional)
    #expect(idle.isEmpty, "docs/outputs.md tells of what nothing writes: \(idle.sorted())")
    #expect(Self.optional.isSubset(of: patterns))
  }

  @Test("It tells of every file of the sample captures, and its examples are rows of theirs")
  func samples() throws {
    let page = try OutputsPage()
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let run = try Program.run([
      "run", Fixtures.projectRoot.appending("sample-data").string, "--output", output.string,
      // Smaller pictures: the tables are the same.
      "--set", "aligned.grid=color/4", "--pipeline", "quality",
    ]).succeeds()
    let needs = try #require(run.errors.firstMatch(of: #/needs about (\d+) MB .* a guess/#))
    let bytes = Double(FolderSize(of: output).bytes)
    let said = try #require(Double(needs.1)) * 1e6
    #expect((0.5...2).contains(said / bytes), "\(needs.0), \(bytes)")
    _ = try check(output, page)
    for (name, example) in page.examples where name != "frames.csv" {
      #expect(example.count == 3, "\(name): a header and two rows")
      let files = try output.filesBelow().filter { $0.hasSuffix("/\(name)") }
      let isThere = try files.contains { file in
        let text = try output.appending(file).text()
        return text.hasPrefix(example.joined(separator: "\n") + "\n")
      }
      #expect(isThere, "\(name): the rows of the page are in no sample")
    }
    #expect(page.examples.count == 10)
  }
}

/// `docs/outputs.md` as a table of contents of an output: patterns of files and columns of tables. Columns of what other
/// pages are about are there.
struct OutputsPage {
  /// A pattern as it is written, and as a regular expression.
  struct Pattern {
    let text: String
    let regex: Regex<AnyRegexOutput>
  }

  struct Column: Equatable {
    var name: String
    var unit: String
  }

  /// Patterns of files in a capture's folder, and of those in the output folder itself.
  let ofCapture: [Pattern]
  let ofOutput: [Pattern]
  /// By file: `tables/frames.csv`; `frames.csv` stands for those of exports.
  let columns: [String: [Column]]
  /// Examples of tables by file: header and rows.
  let examples: [String: [String]]
  /// Sensor types by family.
  let sensors: [String: Set<String>]
  let text: String

  init() throws {
    func page(_ name: String) throws -> String {
      let file = Fixtures.projectRoot.appending("docs").appending("\(name).md")
      return try file.text()
    }
    text = try page("outputs")
    let files = Self.section("## Files", of: text)
    let whole = "### Of the whole output"
    ofCapture = try Self.patterns(files.components(separatedBy: whole).first ?? "")
    ofOutput = try Self.patterns(files.components(separatedBy: whole).last ?? "")
    var columns: [String: [Column]] = [:]
    var examples: [String: [String]] = [:]
    var current = ""
    var isExample = false
    let pages = try [Self.section("## Tables", of: text), page("pictures"), page("quality")]
    for line in pages.joined(separator: "\n").components(separatedBy: "\n") {
      let spans = Self.spans(line)
      if line.hasPrefix("```") {
        isExample = line == "```csv"
      } else if isExample {
        examples[current, default: []].append(line)
      } else if line.hasPrefix("#") {
        current = spans.last ?? ""
      } else if current.hasSuffix("csv"), line.hasPrefix("| `"), let name = spans.first {
        let cells = Self.cells(line)
        columns[current, default: []]
          .append(Column(name: name, unit: cells.count > 1 ? cells[1] : ""))
      }
    }
    self.columns = columns
    self.examples = examples
    var sensors: [String: Set<String>] = [:]
    for line in Self.section("## Sensors by family", of: text).lines
    where line.hasPrefix("| `") {
      let cells = Self.cells(String(line))
      guard let family = Self.spans(cells[0]).first, cells.count > 2 else { continue }
      sensors[family, default: []].formUnion(Self.spans(cells[1]))
    }
    self.sensors = sensors
  }

  /// From a heading to the next one of its level.
  private static func section(_ heading: String, of text: String) -> String {
    let level = heading.prefix { $0 == "#" }
    let parts = text.components(separatedBy: "\n\(heading)")
    guard parts.count > 1 else { return "" }
    return parts[1].components(separatedBy: "\n\(level) ").first ?? ""
  }

  private static func cells(_ line: String) -> [String] {
    line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// What stands between backticks.
  private static func spans(_ line: String) -> [String] {
    line.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  private static func patterns(_ text: String) throws -> [Pattern] {
    try text.lines.filter { $0.hasPrefix("| `") }
      .flatMap { spans(cells(String($0))[0]) }
      .map { Pattern(text: $0, regex: try Regex(expression($0))) }
  }

  /// `<name>` and `*` are any name, `…` whatever follows, NNNNNN, N and NS digits, TIME digits and a point.
  private static func expression(_ pattern: String) throws -> String {
    var text = NSRegularExpression.escapedPattern(for: pattern)
    for (word, expression) in [
      ("<[^>]+>", "[^/]+"), ("\\\\\\*", "[^/]+"), ("…", ".+"), ("NNNNNN", "[0-9]{6,}"),
      ("\\bNS\\b", "[0-9]+"), ("\\bTIME\\b", "[0-9.]+"), ("\\bN\\b", "[0-9]+"),
      ("chunk-0000", "chunk-[0-9]{4,}"),
    ] {
      text = text.replacing(try Regex(word), with: expression)
    }
    return "^\(text)$"
  }
}
