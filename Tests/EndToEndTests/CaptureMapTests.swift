import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Captures on a map", .runsPrograms)
struct CaptureMapTests {
  @Test(
    "Each capture is a feature with its state and page: a point where it was located, longitude first"
  )
  func map() throws {
    let folder = try TemporaryFolder()
    for family in ["strabo", "scannet"] {
      try Program.synthesize(
        "\(family) --frames 3 --seed 4 --id \(family)", to: folder.path.appending("in"))
    }
    let output = folder.path.appending("out")
    try Program.run("run \(folder.path.appending("in")) --output \(output) --only tables")
      .succeeds()
    let map = try Program.run("report \(output) --format geojson").json()
    #expect(map["type"] as? String == "FeatureCollection")
    let report = try Program.run("report \(output) --format json").json().objects("captures")
    let features = try map.objects("features")
    #expect(features.count == 2)
    for feature in features {
      #expect(feature["type"] as? String == "Feature")
      let facts = try #require(feature["properties"] as? [String: Any])
      let id = try #require(facts["id"] as? String)
      let row = try #require(report.first { $0["id"] as? String == id })
      for key in ["state", "family", "page", "recordedAt"] {
        #expect(facts[key] as? String == row[key] as? String, "\(key)")
      }
      #expect(facts["needsPerson"] as? Bool == row["needsPerson"] as? Bool)
      guard facts["family"] as? String == "strabo" else {
        #expect(feature["geometry"] is NSNull)
        continue
      }
      let geometry = try #require(feature["geometry"] as? [String: Any])
      #expect(geometry["type"] as? String == "Point")
      let table = try output.appending(id).appending("tables/geo.csv").text().lines
      let cells = try #require(table.dropFirst().first).split(separator: ",").map {
        Double($0) ?? .nan
      }
      #expect(geometry["coordinates"] as? [Double] == [cells[3], cells[2]])
    }
    let redacted = try Program.run("report \(output) --format geojson --redact")
    #expect(redacted.status == 64)
  }
}

/// The pages of results that the program made, opened in a browser.
@Suite("Pages of a night, as the program writes them", .runsPrograms, .serialized)
struct PageTests {
  private static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  /// Made once for all tests: results of a capture of every family, and of one whose video is no video.
  private static let made = Result { try make() }
  private let folder: TemporaryFolder
  private var output: FilePath { folder.path.appending("out") }

  init() throws { folder = try Self.made.get() }

  private static func make() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    func synthesize(_ family: String, _ id: String) throws {
      try Program.synthesize("\(family) --frames 4 --width 320 --height 240 --id \(id)", to: input)
    }
    for family in families { try synthesize(family, "night-\(family)") }
    try synthesize("scannet", "broken")
    try input.appending("broken/broken.h264").write(Data(repeating: 0x55, count: 5_000))
    let run = try Program.run("run \(input) --output \(folder.path.appending("out"))")
    try #require(run.status == 1, "\(run.errors)")
    return folder
  }

  private func report(_ words: String...) throws -> Program.Result {
    try Program.run("report \(output) \(words)")
  }

  @Test(
    "In Chromium: no message, request or overflow; pictures, names, contrast, targets, order",
    .enabled(if: Browser.isPresent, "\(Browser.absence)"))
  func browser() throws {
    try report().succeeds()
    try report("--redact").succeeds()
    var pages = ["index.html", "redacted/index.html"]
    pages += try FileSystem.names(in: output)
      .map { "\($0)/report.html" }.filter { FileSystem.exists(output.appending($0)) }
    #expect(pages.count >= Self.families.count + 2)
    let result = try Browser.check(pages.map { output.appending($0).string })
    #expect(result.status == 0, "\(result.output)")
  }
}
