import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("The quality of a capture, as the program judges it", .runsPrograms)
struct QualityTests {
  /// What `measure-quality` recorded in its artifact.
  private struct Recorded: Decodable {
    struct Judged: Decodable {
      var value: Double?
      var level: String
    }
    struct Pictures: Decodable, Equatable {
      var judged: Int
      var of: Int
    }
    struct Record: Decodable {
      var verdict: String
      var reasons: [String]
      var judged: [String: Judged]
      var pictures: Pictures?
    }
    var recorded: Record
  }

  private static func recorded(_ scene: Scene, stage: String = "quality") throws -> Recorded.Record
  {
    let file = scene.output.appending("a/\(stage)/artifact.json")
    let data = try #require(file.contents)
    return try JSONDecoder().decode(Recorded.self, from: data).recorded
  }

  /// A file of thresholds.
  private static func limits(_ scene: Scene, _ text: String) throws -> FilePath {
    let file = scene.output.removingLastComponent().appending("mine.yaml")
    try file.write(text)
    return file
  }

  private static func table(_ scene: Scene) throws -> Table {
    try Table(scene.output.appending("a/quality/quality.csv"))
  }

  private static func scene(_ family: String, _ more: String...) throws -> Scene {
    try Scene(synthesizing: "\(family) --frames 16 --width 320 --height 240 \(more)")
  }

  @Test(
    "Pictures that the camera's motion smeared are told from sharp ones, and by how much",
    arguments: [("0", "good"), ("0.06", "usable")])
  func blur(exposure: String, verdict: String) throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", exposure, "--seed", "3")
    let limits = try Self.limits(scene, "blurPixels: 1\nblurredUsable: 0.2\nblurredPoor: 1\n")
    try scene.run("--pipeline quality --set quality.for=\(limits)").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == verdict, "\(recorded.reasons)")
    #expect(recorded.reasons.isEmpty == (verdict == "good"))
    #expect(recorded.reasons.allSatisfy { $0.contains("of the pictures are blurred") })
  }

  @Test(
    "A purpose is judged by its own subjects, and the record names the one that failed with its limit"
  )
  func purpose() throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", "0.06", "--seed", "3")
    try scene.run("--pipeline quality --set quality.for=slam").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == "poor")
    #expect(recorded.reasons.contains("pictures are exposed for 60 ms (limit 33 ms)"))
    #expect(recorded.judged["exposure"]?.value == 60)
    #expect(recorded.judged["sensorGap"] != nil && recorded.judged["depthMissing"] == nil)
    let status = try Program.run("status \(scene.output) --quality good")
    #expect(status.status == 0 && !status.output.contains("poor"))
  }

  @Test("Noise of depth shows in the difference of depth between frames, and only there")
  func noise() throws {
    var judged: [[String: Recorded.Judged]] = []
    for noise in ["0", "8"] {
      let scene = try Self.scene(
        "arkit-scanner", "--noise", noise, "--exposure", "0", "--seed", "3")
      try scene.run("--pipeline quality").succeeds()
      judged.append(try Self.recorded(scene).judged)
    }
    let differences = try judged.map { try #require($0["depthDisagreement"]?.value) }
    #expect(differences[1] > 2 * differences[0] && differences[0] < 5, "\(differences)")
    #expect(judged.allSatisfy { $0["blurred"]?.level == "good" && $0["clipped"]?.level == "good" })
  }

  @Test("Depth of half the rate of the pictures is compared with the depth before it")
  func halfRate() throws {
    let scene = try Self.scene(
      "stray-scanner", "--generation", "png", "--noise", "0", "--exposure", "0", "--seed", "3")
    var differences: [Double] = []
    for step in [1, 2] {
      if step == 2 {
        for frame in stride(from: 1, to: 16, by: 2) {
          try FileSystem.remove(scene.file("depth/\(String(format: "%06d", frame)).png"))
        }
      }
      try scene.run("--pipeline quality").succeeds()
      differences.append(try #require(Self.recorded(scene).judged["depthDisagreement"]?.value))
      let column = try Self.table(scene)["depth_difference_median_mm"]
      #expect(column.count == 16)
      for (frame, cell) in column.enumerated() {
        #expect(cell.isEmpty == (frame < step || frame % step > 0), "\(frame) of every \(step)")
      }
    }
    #expect(differences[1] < 3 * differences[0] + 1, "\(differences)")
    try scene.run("--until depth --set depth.maximumChange=0mm").succeeds()
    let filtered = try PNGReader.depth(at: scene.output.appending("a/depth/000002.png"))
    #expect(filtered.millimeters.contains(0))
  }

  /// Poses of `trans.json`, by time: column-major, ARKit axes.
  private static func edit(_ scene: Scene, _ change: (Int, inout [Double]) -> Void) throws {
    let file = URL(filePath: scene.file("trans.json").string)
    var poses = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
    let times = poses.keys.sorted { (Double($0) ?? 0) < (Double($1) ?? 0) }
    for (frame, time) in times.enumerated() {
      var matrix = try JSONDecoder().decode([Double].self, from: Data((poses[time] ?? "").utf8))
      change(frame, &matrix)
      poses[time] = "[\(matrix.map { "\($0)" }.joined(separator: ","))]"
    }
    try JSONEncoder().encode(poses).write(to: file)
  }

  @Test("Poses that turn otherwise than the gyroscope says show by as much in rotations")
  func drift() throws {
    func judged(_ scene: Scene) throws -> Recorded.Judged {
      try scene.run("--pipeline quality").succeeds()
      return try #require(Self.recorded(scene).judged["rotationDisagreement"])
    }
    let scene = try Self.scene("arkit-scanner", "--noise", "0", "--exposure", "0", "--seed", "3")
    let small = try judged(scene)
    // 2° per frame about the optical axis: far more than the camera turns.
    try Self.edit(scene) { frame, matrix in
      let angle = 2 * Double(frame) * .pi / 180
      for axis in 0..<3 {
        let (x, y) = (matrix[axis], matrix[4 + axis])
        matrix[axis] = cos(angle) * x + sin(angle) * y
        matrix[4 + axis] = cos(angle) * y - sin(angle) * x
      }
    }
    let large = try judged(scene)
    #expect((small.value ?? 1) < 0.1 && small.level == "good", "\(small)")
    #expect((1.2...2.2).contains(large.value ?? 0) && large.level == "poor", "\(large)")
  }

  @Test(
    "Pictures are judged as they were recorded, all of them, whichever are published in which shape"
  )
  func recordedPictures() throws {
    let scene = try Self.scene("scannet")
    let published = [
      "whole": "", "before": "", "few": "every: 3, first: 2", "part": "every: 2, last: 9",
      "picked": "pick: sharpest, count: 2", "small": "size: 25%", "even": "count: 5",
    ].sorted { $0.key < $1.key }
    let pipeline = try scene.pipeline(
      published.map { name, settings in
        """
          \(name): {uses: decode-color, with: {\(settings)}}
          \(name)-quality: {uses: measure-quality, needs: {color: \(name)}}

        """
      }.joined())
    // These pictures are there before anybody wants to measure them.
    try scene.run("--pipeline \(pipeline) --only before").succeeds()
    try scene.run("--pipeline \(pipeline)").succeeds()
    let whole = try Self.recorded(scene, stage: "whole-quality")
    for (name, _) in published {
      let found = try Self.recorded(scene, stage: "\(name)-quality")
      #expect(found.pictures == Recorded.Pictures(judged: 16, of: 16), "\(name)")
      #expect(found.verdict == whole.verdict && found.reasons == whole.reasons, "\(name)")
      let table = scene.output.appending("a/\(name)/measures.csv").string
      #expect(FileManager.default.fileExists(atPath: table) == (name != "before"), "\(name)")
      #expect(
        FileManager.default.contentsEqual(
          atPath: scene.output.appending("a/\(name)-quality/quality.csv").string,
          andPath: scene.output.appending("a/whole-quality/quality.csv").string), "\(name)")
    }
  }

  @Test("Positions in a wrong unit are not good: no pair of frames sees the same, which is said")
  func unit() throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", "0", "--seed", "3")
    // Micrometers: in millimeters a pair at a turning point of this camera still overlaps, and is poor.
    try Self.edit(scene) { _, matrix in for axis in 12..<15 { matrix[axis] *= 1_000_000 } }
    try scene.run("--pipeline quality --only color,depth,quality").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == "unjudged", "\(recorded)")
    #expect(recorded.judged["depthDisagreement"]?.level == "unjudged")
    #expect(recorded.reasons.count == 1)
    #expect(recorded.reasons.allSatisfy { $0.contains("none of 15 pairs of neighboring frames") })
    let status = try Program.run("status \(scene.output)").unwrapped
    #expect(status.contains("  quality unjudged: ") && status.contains("none of 15 pairs"))
  }

  @Test("A row per frame in quality/quality.csv, what is not recorded is empty; what runs again")
  func rows() throws {
    let scene = try Self.scene("scannet")
    let measures = scene.output.appending("a/color/measures.csv")
    try scene.run("--pipeline quality").succeeds()
    let table = try Self.table(scene)
    #expect(table.rows.count == 16)
    #expect(table["frame"] == (0..<16).map { "\($0)" })
    #expect(table["sharpness"].allSatisfy { Double($0) ?? 0 > 0 })
    // ScanNet's app records no poses.
    #expect(table["pose_rotation_deg"].allSatisfy { $0.isEmpty })
    #expect(table["depth_share"].allSatisfy { (0.0...1).contains(Double($0) ?? -1) })
    // Only the stage whose limit changed.
    let result = try scene.run("--pipeline quality --set quality.for=slam -n -v")
    #expect(result.output.contains("quality: run, parameters"), "\(result.output)")
    #expect(result.output.contains("color: up-to-date"))
    let refused = try scene.run("--pipeline quality --set quality.clippedUsable=0.6")
    #expect(refused.status == 64)
    #expect(
      refused.errors.contains(
        "quality.clippedUsable is a threshold in the file that quality.for names: `scanmill list quality default`"
      ))
    // Pictures that are made once more without their measures change nobody's input.
    #expect(FileSystem.exists(measures))
    try scene.run("--only color -R color").succeeds()
    #expect(!FileSystem.exists(measures))
    for pipeline in ["default", "quality"] {
      #expect(
        try scene.run("--pipeline \(pipeline)").errors.contains("nothing to do"), "\(pipeline)")
    }
  }
}

@Suite("The verdict on a capture, wherever it is shown", .runsPrograms)
struct QualityViewTests {
  /// The first capture in the JSON of a verb.
  private static func first(_ words: [String]) throws -> [String: Any] {
    let captures = try Program.run(words).json()["captures"] as? [[String: Any]]
    return try #require(captures?.first)
  }

  /// The last three cells of the first capture in the CSV of a verb, behind their headers.
  private static func last(_ words: [String]) throws -> [String] {
    try Program.run(words).output.lines.prefix(2)
      .flatMap {
        $0.split(separator: ",", omittingEmptySubsequences: false).suffix(3).map(String.init)
      }
  }

  private static func equal(_ a: Any?, _ b: [String: Any]) -> Bool {
    (a as? NSDictionary) == (b as NSDictionary)
  }

  @Test(
    "Every view shows the verdict, reasons and numbers of the record",
    arguments: [("0.0001", "poor"), ("100", "good")])
  func views(limit: String, verdict: String) throws {
    let scene = try Scene("a")
    let limits = scene.output.removingLastComponent().appending("mine.yaml")
    let usual = try Program.run("list quality default").output
    try limits.write(
      usual.replacing("blurSigma: 2.6", with: "blurSigma: \(limit)")
        .replacing("blurPixels: 4", with: "blurPixels: 1000"))
    try scene.run("--pipeline quality --set quality.for=\(limits)").succeeds()
    let output = scene.output.string
    let recorded = try scene.output.appending("a/quality/artifact.json").json().object(
      "recorded")
    let reasons = try #require(recorded["reasons"] as? [String])
    #expect(recorded["verdict"] as? String == verdict)
    #expect(reasons.isEmpty == (verdict == "good"))
    let pictures = try #require(recorded["pictures"] as? [String: Int])
    #expect(pictures["judged"] == pictures["of"] && (pictures["of"] ?? 0) > 0)
    let counted = "\(pictures["judged"] ?? 0) of \(pictures["of"] ?? 0)"
    let keys = ["verdict", "pictures", "reasons", "judged"]
    let quality = recorded.filter { keys.contains($0.key) }

    #expect(Self.equal(try scene.output.appending("a/capture.json").json()["quality"], quality))
    #expect(Self.equal(try Self.first(["status", output, "--json"])["quality"], quality))
    let report = ["report", output, "--format", "json"]
    #expect(Self.equal(try Self.first(report)["quality"], quality))
    for words in [["status", output, "--csv"], ["report", output, "--format", "csv"]] {
      let number = "\(pictures["of"] ?? 0)"
      #expect(
        try Self.last(words) == [
          "quality", "picturesJudged", "picturesRecorded", verdict, number, number,
        ])
    }

    // The filter leaves the same captures in every form.
    for level in [verdict, "usable", "good,usable,poor"] {
      let isMeant = level.contains(verdict)
      let words = ["status", output, "--quality", level]
      let listed = try Program.run("\(words) --json").json()["captures"] as? [[String: Any]]
      #expect(listed?.count == (isMeant ? 1 : 0), "\(level)")
      let rows = try Program.run("\(words) --csv").output.lines.count
      #expect(rows == (isMeant ? 2 : 1), "\(level)")
      #expect(
        try Program.run("\(words) --all").output.contains("verdict") == isMeant, "\(level)")
      #expect(
        try Program.run("\(words) --state failed --json").json()["captures"] as? [Int] == [])
    }

    let status = try Program.run("status \(output) --all").unwrapped
    #expect(status.contains("verdict") && status.contains("\(verdict), \(counted)"))
    #expect(status.contains("poor quality: ") == (verdict == "poor"))
    #expect(reasons.allSatisfy(status.contains))

    try Program.run("report \(output)").succeeds()
    let night = try scene.output.appending("index.html").text()
    let page = try scene.output.appending("a/report.html").text()
    #expect(night.contains("data-quality=\"\(verdict)\">\(verdict), \(counted)</td>"))
    #expect(night.contains("id=\"poor\"") == (verdict == "poor"))
    #expect(page.contains("data-quality=\"\(verdict)\""))
    #expect(page.contains("Every frame") && page.contains("What was judged"))
    #expect(page.contains("\(counted) recorded pictures were judged"))
    #expect(reasons.allSatisfy { night.contains($0) && page.contains($0) })
    // A person who has looked: the verdict stays, the section goes.
    if verdict == "poor" {
      let totals = try Program.run(report).json()["totals"] as? [String: Any]
      #expect(totals?["poor"] as? Int == 1 && totals?["needsPerson"] as? Int == 0)
      try Program.run("mark done-as-is \(scene.output.appending("a"))").succeeds()
      try Program.run("report \(output)").succeeds()
      let marked = try scene.output.appending("index.html").text()
      #expect(
        !marked.contains("id=\"poor\"")
          && marked.contains("data-quality=\"poor\">poor, \(counted)</td>"))
    }
  }

  @Test("Without a verdict nothing of it is there; later runs without the stage leave it as it is")
  func absent() throws {
    let scene = try Scene("a")
    let output = scene.output.string
    func document() throws -> Data? {
      scene.output.appending("a/capture.json").contents
    }
    func check() throws {
      for words in [
        ["status", output], ["status", output, "--json"], ["status", output, "--csv"],
        ["report", output, "--format", "json"], ["report", output, "--format", "csv"],
      ] {
        let said = try Program.run(words).output
        #expect(!said.contains("verdict") && !said.contains("\"quality\":"), "\(words)")
        #expect(!said.contains(",quality"), "\(words)")
      }
      try Program.run("report \(output)").succeeds()
      for page in ["index.html", "a/report.html"] {
        let text = try scene.output.appending(page).text()
        #expect(!text.contains("data-quality") && !text.contains("judged"), "\(page)")
      }
    }
    try scene.run().succeeds()
    let plain = try document()
    try check()
    // A capture that was not judged has no verdict, whichever is asked for.
    let listed = try Program.run("status \(output) --quality good,usable,poor --json")
    #expect(try (listed.json()["captures"] as? [Any])?.isEmpty == true)
    try scene.run("--pipeline quality").succeeds()
    let judged = try document()
    #expect(judged != plain)
    // A published result stays asked for: it is told until `clean` removes it.
    try scene.run().succeeds()
    #expect(try document() == judged)
    let quality = try scene.output.appending("a/capture.json").json().object("quality")
    #expect(Self.equal(try Self.first(["status", output, "--json"])["quality"], quality))
    #expect(
      Self.equal(try Self.first(["report", output, "--format", "json"])["quality"], quality))
  }
}
