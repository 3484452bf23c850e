@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("MultiScan captures of the fixtures", .enabled(if: Fixtures.arePresent))
struct MultiScanFixtureTests {
  @Test("Id, generation, frames and times are the expected ones", arguments: MultiScanSupport.cases)
  func frames(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try MultiScanSupport.open(fixture.capture)
    #expect(capture.id == expected.captureId)
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.count == expected.frames)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    #expect(capture.frames.map(\.colorTimestamp?.nanoseconds) == expected.timestampsNs.color)
    #expect(capture.frames.map(\.depthTimestamp?.nanoseconds) == expected.timestampsNs.depth)
  }

  @Test(
    "Every depth and confidence frame has the expected digest", arguments: MultiScanSupport.cases)
  func pictures(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try MultiScanSupport.open(fixture.capture)
    let depth = try capture.depth.value.map {
      try MultiScanSupport.decode($0, frames: expected.frames).digests
    }
    #expect(depth ?? [] == expected.depthSha256)
    let confidence = try capture.confidence.value.map {
      try MultiScanSupport.decode($0, frames: expected.frames).digests
    }
    #expect(confidence ?? [] == expected.confidenceSha256)
  }

  @Test("Streams are described as expected", arguments: MultiScanSupport.cases)
  func descriptions(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try MultiScanSupport.open(fixture.capture)
    if expected.mustFail.contains("color") {
      #expect(capture.color.error != nil)
    } else {
      expect(capture.color.value?.description, is: expected.streams.color)
      #expect(capture.color.value?.order?.count ?? 0 == expected.colorFrames)
    }
    expect(capture.depth.value?.description, is: expected.streams.depth)
    expect(capture.confidence.value?.description, is: expected.streams.confidence)
    expect(capture.poses.value?.description, is: expected.streams.poses)
    #expect(capture.imu.value?.sampleCounts ?? [:] == expected.imu.counts)
  }

  private func expect(
    _ found: StreamDescription?, is expected: MultiScanExpectation.Stream?,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect((found == nil) == (expected == nil), sourceLocation: location)
    guard let found, let expected else { return }
    #expect(found.frames == expected.frames, sourceLocation: location)
    if let file = expected.file { #expect(found.file == file, sourceLocation: location) }
    if let encoding = expected.encoding {
      #expect(found.encoding == encoding, sourceLocation: location)
    }
    if let width = expected.width { #expect(found.width == width, sourceLocation: location) }
    if let height = expected.height { #expect(found.height == height, sourceLocation: location) }
    if let declared = expected.declaredFrames {
      #expect(found.declaredFrames == declared, sourceLocation: location)
    }
  }

  @Test(
    "Poses, intrinsics, exposure and positions are the expected rows",
    arguments: MultiScanSupport.cases)
  func tables(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try MultiScanSupport.open(fixture.capture)
    let poses = (capture.poses.value?.rows ?? []).map { row -> [Double] in
      let time = Double(capture.frames[row.frame].timestamp?.nanoseconds ?? -1)
      let q = row.pose.orientation
      return [Double(row.frame), time] + row.pose.position + [q.x, q.y, q.z, q.w]
    }
    #expect(poses.count == expected.poses.count)
    for (row, wanted) in zip(poses, expected.poses) {
      #expect(Array(row[..<2]) == Array(wanted[..<2]))
      #expect(zip(row[2..<5], wanted[2..<5]).allSatisfy { abs($0 - $1) < 1e-9 })
      let sign = wanted[8] < 0 ? -1.0 : 1.0
      #expect(zip(row[5...], wanted[5...]).allSatisfy { abs($0 - sign * $1) < 1e-9 })
    }
    let intrinsics = (capture.intrinsics.value ?? []).map { row -> [Double?] in
      [
        Double(row.frame), row.width.map(Double.init), row.height.map(Double.init), row.fx, row.fy,
        row.cx, row.cy,
      ]
    }
    #expect(intrinsics == expected.intrinsics)
    let settings = (capture.cameraSettings.value?.rows ?? []).map { row -> [Double?] in
      [Double(row.frame), row.exposureSeconds, row.iso, row.exposureOffsetEV]
    }
    #expect(settings == expected.cameraSettings)
    #expect((capture.geo.value == nil) == expected.geo.isEmpty)
    if let geo = capture.geo.value, let wanted = expected.geo.first {
      #expect(geo.coverage == .firstFrameOnly)
      #expect(geo.track.positions.map(\.timestamp.nanoseconds) == [wanted.timestamp])
      #expect(geo.track.positions.map(\.latitude) == [wanted.latitude])
      #expect(geo.track.positions.map(\.longitude) == [wanted.longitude])
    }
  }

  @Test("IMU rows are the expected ones", arguments: MultiScanSupport.cases)
  func samples(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json").imu
    let imu = try MultiScanSupport.open(fixture.capture).imu.value
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

  @Test("Warnings are exactly the expected codes and counts", arguments: MultiScanSupport.cases)
  func warnings(of fixture: FixtureCase) throws {
    let expected = try fixture.json(MultiScanExpectation.self, from: "expected.json")
    let capture = try MultiScanSupport.open(fixture.capture)
    let counts = try MultiScanSupport.warningCounts(capture)
    #expect(counts == MultiScanSupport.counts(expected.warnings))
    let subjects = Set(expected.warnings.map { "\($0.code) \($0.subject)" })
    for warning in capture.warnings {
      #expect(subjects.contains("\(warning.code.rawValue) \(warning.subject)"))
    }
  }

  @Test("Only captures that an app finished are complete", arguments: MultiScanSupport.cases)
  func completeness(of fixture: FixtureCase) throws {
    let capture = try MultiScanSupport.open(fixture.capture)
    let unfinished = ["aborted", "single_aborted", "real_sample", "damaged"]
    #expect(capture.completeness.isWhole == !unfinished.contains(fixture.name))
    #expect(capture.completeness.isWhole == capture.completeness.missing.isEmpty)
  }

  @Test("Depth shares the color camera", arguments: MultiScanSupport.cases)
  func alignment(of fixture: FixtureCase) throws {
    let capture = try MultiScanSupport.open(fixture.capture)
    #expect((capture.alignment == nil) == (capture.depth.value == nil))
    guard let alignment = capture.alignment else { return }
    #expect(alignment.registered)
    #expect(alignment.colorFromDepth == .identity)
    #expect(alignment.depthIntrinsics == nil)
    if let row = capture.intrinsics.value?.first, let width = row.width, let height = row.height {
      let camera = PinholeCamera(
        width: width, height: height, fx: row.fx, fy: row.fy, cx: row.cx, cy: row.cy)
      #expect(alignment.colorIntrinsics == camera)
    }
  }

  @Test("Every part names the files it was read from", arguments: MultiScanSupport.cases)
  func parts(of fixture: FixtureCase) throws {
    let capture = try MultiScanSupport.open(fixture.capture)
    let listing = try FolderListing(of: fixture.capture)
    for (part, files) in capture.files {
      #expect(!files.isEmpty, "\(part)")
      #expect(files.allSatisfy { listing.contains($0.lastComponent?.string ?? "") })
    }
    #expect(
      (capture.files[.depth] == nil) == !listing.files.contains { $0.hasSuffix("depth.zlib") })
  }
}
