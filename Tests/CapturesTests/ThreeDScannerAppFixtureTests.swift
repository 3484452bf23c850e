@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("3D Scanner App exports of the fixtures", .enabled(if: Fixtures.arePresent))
struct ThreeDScannerAppFixtureTests {
  private typealias Scratch = ThreeDScannerAppScratch

  private struct Truth: Decodable {
    var colorIndex: [Int?]
  }

  private struct CaptureTruth: Decodable {
    var captureId: String
    var generation: String
    var frames: Int
    var timestampsNs: MultiScanExpectation.Times
    var streams: MultiScanExpectation.Streams
  }

  @Test("Id, generation, date, frames and times are the expected ones", arguments: Scratch.cases)
  func frames(of fixture: FixtureCase) throws {
    let expected = try fixture.json(CaptureTruth.self, from: "expected.json")
    let capture = try Scratch.open(fixture)
    #expect(capture.id == expected.captureId)
    #expect(capture.generation == expected.generation)
    #expect(capture.clock == CaptureClock(.uptime, unit: "s"))
    #expect(capture.recordedAt == "2026-01-13T14:47:59")
    #expect(capture.scene.label == "Küche")
    #expect(capture.frames.count == expected.frames)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    let color = Set(try Scratch.decode(capture.color.value).frames)
    #expect(
      capture.frames.enumerated().map {
        color.contains($0) ? $1.colorTimestamp?.nanoseconds : nil
      } == expected.timestampsNs.color)
  }

  @Test("Every depth and confidence picture has the expected digest", arguments: Scratch.cases)
  func pictures(of fixture: FixtureCase) throws {
    let expected = try fixture.json(DigestTruth.self, from: "expected.json")
    let capture = try Scratch.open(fixture)
    let depth = try capture.depth.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(depth ?? [] == expected.depthSha256 ?? [])
    let confidence = try capture.confidence.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(confidence ?? [] == expected.confidenceSha256)
    let index = try fixture.json(Truth.self, from: "expected.json").colorIndex
    #expect(try Scratch.decode(capture.color.value).frames == index.compactMap(\.self))
  }

  private struct DigestTruth: Decodable {
    var frames: Int
    var depthSha256: [String?]?
    var confidenceSha256: [String?]
  }

  @Test("Streams count files, readable or not", arguments: Scratch.cases)
  func descriptions(of fixture: FixtureCase) throws {
    let expected = try fixture.json(CaptureTruth.self, from: "expected.json")
    let capture = try Scratch.open(fixture)
    let pairs = [
      (capture.color.value?.description, expected.streams.color, "jpeg"),
      (capture.depth.value?.description, expected.streams.depth, "png-u16"),
      (capture.confidence.value?.description, expected.streams.confidence, "png-u8"),
    ]
    for (found, stream, encoding) in pairs {
      #expect(found?.frames == stream?.frames)
      #expect(found?.width == stream?.width)
      #expect(found?.height == stream?.height)
      #expect(found == nil || found?.encoding == encoding)
    }
  }

  @Test("Poses, intrinsics and exposures are the expected rows", arguments: Scratch.cases)
  func tables(of fixture: FixtureCase) throws {
    let expected = try fixture.json(PoseTruth.self, from: "expected.json")
    let capture = try Scratch.open(fixture)
    let poses = (capture.poses.value?.rows ?? []).map { row -> [Double?] in
      let time = capture.frames[row.frame].timestamp.map { Double($0.nanoseconds) }
      let q = row.pose.orientation
      return [Double(row.frame), time] + row.pose.position + [q.x, q.y, q.z, q.w]
    }
    #expect(poses.count == expected.poses.count)
    for (row, wanted) in zip(poses, expected.poses) {
      #expect(
        zip(row, wanted).allSatisfy { found, wanted in
          guard let found, let wanted else { return found == nil && wanted == nil }
          return abs(found - wanted) < 1e-12 * max(1, abs(wanted))
        })
    }
    let intrinsics = (capture.intrinsics.value ?? []).map { row -> [Double?] in
      [
        Double(row.frame), row.width.map(Double.init), row.height.map(Double.init), row.fx, row.fy,
        row.cx, row.cy,
      ]
    }
    #expect(intrinsics == expected.intrinsics)
    let settings = (capture.cameraSettings.value?.rows ?? []).map {
      [Double($0.frame), $0.exposureSeconds, $0.iso, nil]
    }
    #expect(settings == expected.cameraSettings)
  }

  private struct PoseTruth: Decodable {
    var poses: [[Double?]]
    var intrinsics: [[Double?]]
    var cameraSettings: [[Double?]]
  }

  @Test("Positions are those of single frames, else the one of the scan")
  func positions() throws {
    func geo(_ name: String) throws -> GeoStream? {
      let fixture = try #require(Scratch.cases.first { $0.name == name })
      return try Scratch.open(fixture).geo.value
    }
    let frames = try geo("high")
    #expect(frames?.coverage == .frames([1, 5]))
    #expect(frames?.track.positions.map(\.latitude) == [12.5001, 12.5005])
    #expect(frames?.track.positions.map(\.accuracy) == [4.75, 4.75])
    let scan = try geo("lidar")
    #expect(scan?.coverage == .firstFrameOnly)
    #expect(scan?.track.positions.map(\.latitude) == [37.5])
    #expect(scan?.track.positions.map(\.timestamp.nanoseconds) == [942_355_646_313_459])
  }

  @Test("Warnings are exactly the expected ones", arguments: Scratch.cases)
  func warnings(of fixture: FixtureCase) throws {
    let expected = try fixture.json(WarningTruth.self, from: "expected.json").warnings
    let wanted = Dictionary(
      expected.map { ("\($0.code) \($0.subject)", $0.count) }, uniquingKeysWith: +)
    #expect(try Scratch.warnings(of: try Scratch.open(fixture)) == wanted)
  }

  private struct WarningTruth: Decodable {
    var warnings: [MultiScanExpectation.Warning]
  }

  @Test("Only the damaged export lacks files", arguments: Scratch.cases)
  func completeness(of fixture: FixtureCase) throws {
    let completeness = try Scratch.open(fixture).completeness
    #expect(
      completeness.absentFiles
        == (fixture.name == "damaged" ? ["depth_00004.png", "conf_00005.png"] : []))
    #expect(completeness.isWhole == (fixture.name != "damaged"))
  }

  @Test("Depth shares the color camera", arguments: Scratch.cases)
  func alignment(of fixture: FixtureCase) throws {
    let capture = try Scratch.open(fixture)
    #expect((capture.alignment == nil) == (fixture.name == "high"))
    guard let alignment = capture.alignment else { return }
    #expect(alignment.registered)
    #expect(alignment.colorFromDepth == .identity)
    #expect(alignment.colorIntrinsics?.width == 160)
  }
}
