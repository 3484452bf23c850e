@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What results say about themselves", .runsPrograms)
struct ConfidenceHoleTests {
  @Test(
    "A depth frame without a confidence frame is a hole where confidence decides, and is counted")
  func confidenceHole() throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    try Program.synthesize(
      """
      multiscan --id scan --frames 12 --seed 4 --generation ios-lidar --width 320 --height 240 \
      --fault short-confidence
      """, to: input)
    let output = folder.path.appending("out")
    let result = try Program.run(
      "run \(input) --output \(output) --set depth.minimumConfidence=1 --json"
    ).succeeds()
    let place = output.appending("scan")
    for stage in ["depth", "aligned"] {
      let pictures = try FileSystem.names(in: place.appending(stage)).filter {
        $0.hasSuffix(".png")
      }
      #expect(pictures == (0..<10).map { "00000\($0).png" }, "\(stage)")
    }
    let warnings = try result.json().capture().objects("warnings")
    let counts = warnings.filter { $0["code"] as? String == "confidence-missing" }
      .map { $0["count"] as? Int }
    #expect(counts == [2])
    try Invariants(place).check()
  }

  @Test("A cloud says in its header in which camera's axes it is", arguments: ["scannet"])
  func cloudHeader(family: String) throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    try Program.synthesize(
      "\(family) --id scan --frames 3 --seed 4 --width 324 --height 242", to: input)
    let output = folder.path.appending("out")
    try Program.run("run \(input) --output \(output) --pipeline point-cloud").succeeds()
    var clouds: [FilePath] = []
    for stage in try FileSystem.names(in: output.appending("scan")) where !stage.hasPrefix(".") {
      let place = output.appending("scan").appending(stage)
      guard FileSystem.isFolder(place) else { continue }
      clouds += try FileSystem.names(in: place).filter { $0.hasSuffix(".ply") }
        .map { place.appending($0) }
    }
    #expect(!clouds.isEmpty)
    for cloud in clouds {
      let bytes = try #require(cloud.contents)
      let header = String(decoding: bytes.prefix(2000), as: UTF8.self)
        .components(separatedBy: "end_header")[0]
      let comments = header.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("comment") }
      #expect(comments.contains { $0.contains("camera") && $0.contains("axes") }, "\(comments)")
    }
  }
}
