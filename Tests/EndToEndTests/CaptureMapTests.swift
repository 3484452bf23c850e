import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
