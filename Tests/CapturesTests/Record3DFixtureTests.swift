@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

private struct Record3DExpectation: Decodable {
  var captureId: String
  var generation: String
  var frames: Int
  var streams: MultiScanExpectation.Streams
  var timestampsNs: MultiScanExpectation.Times
  var depthSha256: [String?]
  var confidenceSha256: [String?]
  var poses: [[Double?]]
  var intrinsics: [[Double?]]
  var warnings: [MultiScanExpectation.Warning]
}

@Suite("Record3D captures of the fixtures", .enabled(if: Fixtures.arePresent))
struct Record3DFixtureTests {
  @Test(
    "Id, generation, frames and times are the expected ones", arguments: Record3DScratch.cases)
  func frames(of fixture: FixtureCase) throws {
    let expected = try fixture.json(Record3DExpectation.self, from: "expected.json")
    let capture = try Record3DScratch.open(fixture)
    #expect(capture.id == expected.captureId)
    #expect(capture.generation == expected.generation)
    #expect(
      capture.recordedAt
        == (fixture.name == "folder" ? "2020-10-28T15:01:03" : "2024-03-17T18:25:12"))
    #expect(capture.clock.base == (fixture.name == "folder" ? .nominal : .recordingStart))
    #expect(capture.clock.unit == "s")
    #expect(capture.frames.count == expected.frames)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    // Pictures that cannot be decoded lose their times when the table is written.
    let color = try Self.readable(capture)
    let depth = try capture.depth.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    for (index, frame) in capture.frames.enumerated() {
      #expect(
        (color.contains(index) ? frame.colorTimestamp?.nanoseconds : nil)
          == expected.timestampsNs.color[index])
      #expect(
        (depth?[index] == nil ? nil : frame.depthTimestamp?.nanoseconds)
          == expected.timestampsNs.depth[index])
    }
  }

  /// Frames whose color picture can be decoded.
  private static func readable(_ capture: Capture) throws -> [Int] {
    guard let color = capture.color.value, case .pictures(let pictures) = color.source else {
      return []
    }
    return try (0..<pictures.count).compactMap { index in
      try pictures.decode(index).picture == nil ? nil : color.frameOfPicture?[index] ?? index
    }
  }

  @Test(
    "Every depth and confidence picture has the expected digest", arguments: Record3DScratch.cases)
  func pictures(of fixture: FixtureCase) throws {
    let expected = try fixture.json(Record3DExpectation.self, from: "expected.json")
    let capture = try Record3DScratch.open(fixture)
    let depth = try capture.depth.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(depth ?? [] == expected.depthSha256)
    let confidence = try capture.confidence.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(confidence ?? [] == expected.confidenceSha256)
    let index = try fixture.json(StrayScannerScratch.Input.self, from: "expected.json").colorIndex
    #expect(try Self.readable(capture) == index.compactMap(\.self))
  }

  @Test("Streams count files, readable or not", arguments: Record3DScratch.cases)
  func descriptions(of fixture: FixtureCase) throws {
    let expected = try fixture.json(Record3DExpectation.self, from: "expected.json")
    let capture = try Record3DScratch.open(fixture)
    let pairs = [
      (capture.color.value?.description, expected.streams.color, "jpeg"),
      (
        capture.depth.value?.description, expected.streams.depth,
        fixture.name == "exr" ? "exr-f16" : "lzfse-f32"
      ),
      (capture.confidence.value?.description, expected.streams.confidence, "lzfse-u8"),
    ]
    for (found, stream, encoding) in pairs {
      #expect(found?.frames == stream?.frames)
      #expect(found?.width == stream?.width)
      #expect(found?.height == stream?.height)
      #expect(found == nil || found?.encoding == encoding)
    }
  }

  @Test("Poses and intrinsics are the expected rows", arguments: Record3DScratch.cases)
  func tables(of fixture: FixtureCase) throws {
    let expected = try fixture.json(Record3DExpectation.self, from: "expected.json")
    let capture = try Record3DScratch.open(fixture)
    let poses = (capture.poses.value?.rows ?? []).map { row -> [Double] in
      let time = Double(capture.frames[row.frame].timestamp?.nanoseconds ?? -1)
      let q = row.pose.orientation
      return [Double(row.frame), time] + row.pose.position + [q.x, q.y, q.z, q.w]
    }
    #expect(poses.count == expected.poses.count)
    for (row, wanted) in zip(poses, expected.poses) {
      for (column, pair) in zip(row, wanted).enumerated() {
        // Frames without time are -1 here.
        let value = pair.1 ?? -1
        #expect(abs(pair.0 - value) < 1e-12 * max(1, abs(value)), "column \(column)")
      }
    }
    let intrinsics = (capture.intrinsics.value ?? []).map { row -> [Double?] in
      [
        Double(row.frame), row.width.map(Double.init), row.height.map(Double.init), row.fx, row.fy,
        row.cx, row.cy,
      ]
    }
    #expect(intrinsics == expected.intrinsics)
  }

  @Test("Warnings are exactly the expected ones", arguments: Record3DScratch.cases)
  func warnings(of fixture: FixtureCase) throws {
    let expected = try fixture.json(Record3DExpectation.self, from: "expected.json").warnings
    let wanted = Dictionary(
      expected.map { ("\($0.code) \($0.subject)", $0.count) }, uniquingKeysWith: +)
    #expect(try Record3DScratch.warnings(of: try Record3DScratch.open(fixture)) == wanted)
  }

  @Test("Depth shares the color camera", arguments: Record3DScratch.cases)
  func alignment(of fixture: FixtureCase) throws {
    let alignment = try #require(try Record3DScratch.open(fixture).alignment)
    #expect(alignment.registered)
    #expect(alignment.colorFromDepth == .identity)
    #expect(alignment.depthIntrinsics == nil)
    #expect(alignment.colorIntrinsics?.width == 144)
    #expect(alignment.colorIntrinsics?.fx == 144)
  }

  @Test("Recordings with holes are not complete", arguments: Record3DScratch.cases)
  func completeness(of fixture: FixtureCase) throws {
    let completeness = try Record3DScratch.open(fixture).completeness
    let missing = [
      "r3d": [], "damaged": [], "exr": ["rgb/4.jpg", "depth/4.exr"],
      "folder": ["rgbd/2.jpg", "rgbd/2.depth"],
      "cut": ["rgbd/2.jpg", "rgbd/5.jpg", "rgbd/6.jpg", "rgbd/3.depth", "rgbd/5.depth"],
    ]
    #expect(completeness.absentFiles == missing[fixture.name])
    #expect(completeness.isWhole == (missing[fixture.name] == []))
  }
}
