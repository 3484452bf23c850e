@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Stray Scanner captures of the fixtures", .enabled(if: Fixtures.arePresent))
struct StrayScannerFixtureTests {
  @Test(
    "Id, generation, frames and times are the expected ones",
    arguments: StrayScannerScratch.cases)
  func frames(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try StrayScannerScratch.open(fixture)
    #expect(capture.id == expected.captureId)
    #expect(capture.generation == expected.generation)
    #expect(capture.clock == CaptureClock(.uptime, unit: "s"))
    #expect(capture.recordedAt == nil)
    #expect(capture.frames.count == expected.frames)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    #expect(capture.frames.map(\.colorTimestamp?.nanoseconds) == expected.timestampsNs.color)
    let depth = try capture.depth.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    let times = capture.frames.enumerated().map { frame, times in
      depth?[frame] == nil ? nil : times.depthTimestamp?.nanoseconds
    }
    #expect(times == expected.timestampsNs.depth)
  }

  @Test(
    "Every depth and confidence picture has the expected digest",
    arguments: StrayScannerScratch.cases)
  func pictures(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try StrayScannerScratch.open(fixture)
    let depth = try capture.depth.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(depth ?? [] == expected.depthSha256)
    let confidence = try capture.confidence.value.map {
      try StrayScannerScratch.decode($0, frames: expected.frames).digests
    }
    #expect(confidence ?? [] == expected.confidenceSha256)
  }

  @Test(
    "Streams count files and pictures, readable or not", arguments: StrayScannerScratch.cases)
  func descriptions(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try StrayScannerScratch.open(fixture)
    let pairs = [
      (capture.color.value?.description, expected.streams.color),
      (capture.depth.value?.description, expected.streams.depth),
      (capture.confidence.value?.description, expected.streams.confidence),
    ]
    for (found, stream) in pairs {
      #expect(found?.frames == stream?.frames)
      #expect(found?.width == stream?.width)
      #expect(found?.height == stream?.height)
      if let file = stream?.file { #expect(found?.file == file) }
    }
    #expect((capture.color.error != nil) == expected.mustFail.contains("color"))
    #expect(capture.imu.value?.sampleCounts ?? [:] == expected.imu.counts)
    let index = try fixture.json(StrayScannerScratch.Input.self, from: "expected.json").colorIndex
    let color = capture.color.value
    let pictures = 0..<(color?.description.frames ?? 0)
    #expect(pictures.map { color?.frameOfPicture?[$0] ?? $0 } == index.compactMap(\.self))
  }

  @Test("Poses and intrinsics are the expected rows", arguments: StrayScannerScratch.cases)
  func tables(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try StrayScannerScratch.open(fixture)
    let poses = (capture.poses.value?.rows ?? []).map { row -> [Double] in
      let time = Double(capture.frames[row.frame].timestamp?.nanoseconds ?? -1)
      let q = row.pose.orientation
      return [Double(row.frame), time] + row.pose.position + [q.x, q.y, q.z, q.w]
    }
    #expect(poses.count == expected.poses.count)
    for (row, wanted) in zip(poses, expected.poses) {
      #expect(zip(row, wanted).allSatisfy { abs($0 - $1) < 1e-12 * max(1, abs($1)) })
    }
    let intrinsics = (capture.intrinsics.value ?? []).map { row -> [Double?] in
      [
        Double(row.frame), row.width.map(Double.init), row.height.map(Double.init), row.fx, row.fy,
        row.cx, row.cy,
      ]
    }
    #expect(intrinsics == expected.intrinsics)
  }

  @Test("IMU rows are the expected ones", arguments: StrayScannerScratch.cases)
  func samples(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json").imu
    let imu = try StrayScannerScratch.open(fixture).imu.value
    let samples = imu?.samples ?? []
    #expect(samples.count == expected.rows)
    let found = samples.prefix(expected.first.count) + samples.suffix(expected.last.count)
    for (sample, row) in zip(found, expected.first + expected.last) {
      #expect(sample.timestamp.nanoseconds == row.timestamp)
      #expect(imu?.sensors[sample.sensor] == row.sensor)
      for (value, wanted) in zip([sample.x, sample.y, sample.z], row.values) {
        #expect(abs(value - wanted) <= 1e-12 * abs(wanted))
      }
    }
  }

  @Test("Warnings are exactly the expected ones", arguments: StrayScannerScratch.cases)
  func warnings(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json").warnings
    let found = try StrayScannerScratch.warnings(of: try StrayScannerScratch.open(fixture))
    let wanted = Dictionary(
      expected.map { ("\($0.code) \($0.subject)", $0.count) }, uniquingKeysWith: +)
    #expect(found == wanted)
  }

  @Test("Only captures that were stopped are complete", arguments: StrayScannerScratch.cases)
  func completeness(of fixture: FixtureCase) throws {
    let completeness = try StrayScannerScratch.open(fixture).completeness
    #expect(completeness.isWhole == !["killed", "damaged"].contains(fixture.name))
    #expect(
      completeness.absentFiles == (fixture.name == "killed" ? ["camera_matrix.csv"] : []))
  }

  @Test("Depth shares the color camera", arguments: StrayScannerScratch.cases)
  func alignment(of fixture: FixtureCase) throws {
    let capture = try StrayScannerScratch.open(fixture)
    let alignment = try #require(capture.alignment)
    #expect(alignment.registered)
    #expect(alignment.colorFromDepth == .identity)
    #expect(alignment.depthIntrinsics == nil)
    #expect((alignment.colorIntrinsics == nil) == (fixture.name == "killed"))
    #expect(alignment.colorIntrinsics?.fx == capture.intrinsics.value?.first?.fx)
  }
}
