import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// One synthetic capture of a family in an empty room, and what runs of the built binary export from it.
struct ExportScene {
  let folder: TemporaryFolder
  let id: String
  var input: FilePath { folder.path.appending("in").appending(id) }
  var truth: FilePath { folder.path.appending("in").appending("\(id).truth") }
  var output: FilePath { folder.path.appending("out") }
  var capture: FilePath { output.appending(id) }

  init(
    _ family: String, frames: Int = 12, generation: String? = nil, size: (Int, Int) = (160, 120),
    _ more: String...
  ) throws {
    folder = try TemporaryFolder()
    id = "a"
    try Program.synthesize(
      """
      \(family) --frames \(frames) --seed 7 --width \(size.0) --height \(size.1) --id \(id) \
      --empty-room --noise 0 --exposure 0 \
      \(generation.map { ["--generation", $0] } ?? []) \(more)
      """, to: folder.path.appending("in"))
  }

  func run(_ more: Words, to output: String = "out") throws -> Program.Result {
    try Program.run("run \(input) --output \(folder.path.appending(output)) \(more.list)")
  }

  /// Outcome and message of each stage of the last run of all exports.
  static func stages(_ result: Program.Result) throws -> [String: [String: Any]] {
    let stages = try result.json().capture().objects("stages")
    return Dictionary(stages.map { ($0["stage"] as? String ?? "", $0) }) { first, _ in first }
  }

  /// Path and digest of every file of an artifact, without its record.
  func files(of stage: String, in output: String = "out") throws -> [String: String] {
    let file = folder.path.appending(output).appending(id).appending(stage)
      .appending("artifact.json")
    let record =
      try JSONSerialization.jsonObject(with: file.data())
      as? [String: Any]
    let outputs = try #require(record).objects("outputs")
    return Dictionary(
      outputs.map { ($0["path"] as? String ?? "", $0["sha256"] as? String ?? "") }
    ) { first, _ in first }
  }
}

/// What must hold of every export folder, whatever the capture was like.
struct ExportInvariants {
  let capture: FilePath

  /// Stages of exports that are published.
  var stages: [String] {
    get throws { try FileSystem.names(in: capture).filter { $0.hasPrefix("export-") } }
  }

  func check() throws {
    for stage in try stages { try check(stage) }
  }

  private func check(_ stage: String) throws {
    let folder = capture.appending(stage)
    let text = try folder.appending("README.txt").text()
    #expect(text.hasSuffix("\n") && !text.contains("\r"), "\(stage): README.txt")
    for heading in ["How to open it", "Axes, units, names", "Not measured"] {
      #expect(text.contains(heading), "\(stage): README.txt has \(heading)")
    }
    let json = try folder.appending("export.json").json()
    #expect(json["schema"] as? Int == 1)
    #expect(json["stage"] as? String == stage)
    let frames = try #require(json["frames"] as? Int, "\(stage): frames")
    let leftOut = try #require(json["leftOut"] as? [String: Int], "\(stage): leftOut")
    #expect(leftOut.values.allSatisfy { $0 > 0 }, "\(stage): \(leftOut)")
    if let table = try Self.rows(capture.appending("tables/frames.csv")) {
      #expect(frames + leftOut.values.reduce(0, +) == table, "\(stage): \(frames) \(leftOut)")
    }
    if let rows = try Self.rows(folder.appending("frames.csv")) {
      #expect(rows == frames, "\(stage): frames.csv")
    }
    try checkTexts(folder, stage)
  }

  /// No machine, no time of day, no blank at a line's end, no carriage return, no number that is none.
  private func checkTexts(_ folder: FilePath, _ stage: String) throws {
    let endings = [".txt", ".csv", ".json", ".jsonl", ".yaml", ".log", ".gpx", ".geojson", ".kml"]
    let place = capture.removingLastComponent().removingLastComponent().string
    for name in try folder.namesBelow()
    where name != "artifact.json" && endings.contains(where: name.hasSuffix) {
      let text = try folder.appending(name).text()
      #expect(text.isEmpty || text.hasSuffix("\n"), "\(stage)/\(name) ends with a line end")
      #expect(!text.contains("\r"), "\(stage)/\(name) has carriage returns")
      #expect(!text.contains(place), "\(stage)/\(name) names a path of the machine")
      let odd = text.lines.first { line in
        line.hasSuffix(" ")
          || line.split { " ,:[]".contains($0) }.contains { word in
            ["nan", "inf", "-nan"].contains(word.lowercased())
          }
      }
      #expect(odd == nil, "\(stage)/\(name): \(odd ?? "")")
    }
  }

  /// Rows of a table below its header; `nil` where there is none.
  private static func rows(_ file: FilePath) throws -> Int? {
    guard let data = file.contents else { return nil }
    return String(decoding: data, as: UTF8.self).lines.count - 1
  }
}

/// The calibration of a capture as a file, with a lens for both cameras.
enum LabCalibration {
  /// In OpenCV's order: k1 k2 p1 p2 k3.
  static let coefficients = [-0.12, 0.03, 0.001, -0.002, 0.0]

  /// Writes `file` and returns the color camera in it.
  @discardableResult
  static func write(_ file: FilePath, of capture: FilePath) throws -> LensCamera {
    let inspection = try Program.run("inspect \(capture) --quick --json")
    var alignment = try inspection.json().object("alignment")
    let lens = Dictionary(uniqueKeysWithValues: zip(["k1", "k2", "p1", "p2", "k3"], coefficients))
    alignment["distortion"] = ["color": lens, "depth": lens]
    alignment["schema"] = 1
    try file.write(json: alignment)
    let camera = try alignment.object("colorIntrinsics")
    func number(_ key: String) throws -> Double { try #require(camera[key] as? Double, "\(key)") }
    return LensCamera(
      pinhole: PinholeCamera(
        width: Int(try number("width")), height: Int(try number("height")), fx: try number("fx"),
        fy: try number("fy"), cx: try number("cx"), cy: try number("cy")),
      distortion: LensDistortion(openCVOrder: coefficients))
  }
}
