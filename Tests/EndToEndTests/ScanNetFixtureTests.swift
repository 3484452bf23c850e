import Codecs
import Foundation
import Geometry
import Storage
import SystemPackage
import TestSupport
import Testing

@Suite("ScanNet fixtures through the built binary", .enabled(if: Fixtures.arePresent))
struct ScanNetFixtureTests {
  @Test("Every case comes out as its truth says", arguments: Fixtures.cases(of: "scannet"))
  func everyCase(_ fixture: FixtureCase) throws {
    let expected = try Expectation(fixture)
    let output = try TemporaryFolder()
    let result = try Program.run([
      "run", fixture.capture.string, "--output", output.path.string, "--json",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let folder = output.path.appending(try expected.text("id"))
    try expected.checkDepth(in: folder)
    try expected.checkFrameTimes(in: folder)
    try expected.checkColorCount(in: folder)
    try expected.checkWarnings(of: result.json())
    try checkIMU(expected, folder)
    try checkAligned(expected, folder)

    let again = try Program.run(["run", fixture.capture.string, "--output", output.path.string])
    #expect(again.status == 0)
    #expect(again.errors.contains("nothing to do"))
  }

  @Test("Inspection finds the same damage as a run", arguments: Fixtures.cases(of: "scannet"))
  func inspection(_ fixture: FixtureCase) throws {
    let expected = try Expectation(fixture)
    let result = try Program.run(["inspect", fixture.capture.string, "--json"])
    #expect(result.status == 0)
    let document = try result.json()
    try expected.checkWarnings(in: document)
    #expect(document["family"] as? String == "scannet")
    #expect(document["generation"] as? String == "v1")
  }

  private func checkIMU(_ expected: Expectation, _ folder: FilePath) throws {
    let imu = try #require(expected.json["imu"] as? [String: Any])
    let table = try Table(folder.appending("imu").appending("imu.csv"))
    let first = try #require(imu["firstRows"] as? [String])
    for (row, text) in zip(table.rows, first) { expectSameRow(row, text) }
    let last = try #require(imu["lastRows"] as? [String])
    for (row, text) in zip(table.rows.suffix(last.count), last) { expectSameRow(row, text) }
    let matches = try Table(folder.appending("imu").appending("frame_imu.csv"))
    #expect(matches.rows.count == imu["frameImuRows"] as? Int)
  }

  private func checkAligned(_ expected: Expectation, _ folder: FilePath) throws {
    let depth = try FileSystem.names(in: folder.appending("depth")).filter { $0.hasSuffix("png") }
    let aligned = try FileSystem.names(in: folder.appending("aligned"))
      .filter { $0.hasSuffix("png") }
    #expect(aligned == depth)
  }

  private func expectSameRow(_ row: [String], _ text: String) {
    let cells = text.split(separator: ",").map(String.init)
    #expect(Array(row.prefix(2)) == Array(cells.prefix(2)))
    #expect(row.dropFirst(2).map { Double($0) } == cells.dropFirst(2).map { Double($0) })
  }
}
