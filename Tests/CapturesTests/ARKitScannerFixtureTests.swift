@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("ARKit-Scanner captures of the fixtures", .enabled(if: Fixtures.arePresent))
struct ARKitScannerFixtureTests {
  static let cases = ARKitScannerSupport.cases

  private func expectation(_ fixture: FixtureCase) throws -> ARKitScannerExpectation {
    try fixture.json(ARKitScannerExpectation.self, from: "expected.json")
  }

  @Test("Id, generation, frames and times are the expected ones", arguments: cases)
  func frames(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    #expect(capture.id == "capture")
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.count == expected.frames)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    #expect(capture.frames.map(\.colorTimestamp?.nanoseconds) == expected.timestampsNs.color)
    // Holes found by decoding lose their time when the table is written.
    let digests = try capture.depth.value.map {
      try ARKitScannerSupport.scan($0, frames: expected.frames).digests
    }
    let depthTimes = capture.frames.enumerated().map { index, frame in
      digests?[index] == nil ? nil : frame.depthTimestamp?.nanoseconds
    }
    #expect(depthTimes == expected.timestampsNs.depth)
  }

  @Test("Every depth frame has the expected digest", arguments: cases)
  func depth(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    let depth = try #require(capture.depth.value)
    let scan = try ARKitScannerSupport.scan(depth, frames: expected.frames)
    #expect(scan.digests == expected.depthSha256)
    #expect(scan.tally.encoding ?? depth.description.encoding == expected.streams.depth?.encoding)
  }

  @Test("Streams are described as expected", arguments: cases)
  func descriptions(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    if expected.mustFail.contains("color") {
      #expect(capture.color.error != nil)
    } else {
      let color = try #require(capture.color.value)
      #expect(color.description.file == expected.streams.color?.file)
      #expect(color.description.encoding == expected.streams.color?.encoding)
      #expect(color.description.width == expected.streams.color?.width)
      #expect(color.description.height == expected.streams.color?.height)
      #expect(color.description.frames == expected.colorFrames)
      #expect(color.order?.count == expected.colorFrames)
    }
    let depth = try #require(capture.depth.value)
    #expect(depth.description.file == expected.streams.depth?.file)
    #expect(depth.description.width == expected.streams.depth?.width)
    #expect(depth.description.height == expected.streams.depth?.height)
    #expect(depth.description.frames == expected.streams.depth?.frames)
    #expect(depth.access.recordCount == expected.streams.depth?.frames)
    #expect(capture.poses.value?.description.frames == expected.streams.poses?.frames)
  }

  @Test("Poses, intrinsics and camera settings are the expected rows", arguments: cases)
  func tables(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    let poses = capture.poses.value?.rows ?? []
    #expect(poses.count == expected.poses.count)
    for (row, cells) in zip(poses, expected.poses) {
      #expect(Double(row.frame) == cells[0])
      #expect(capture.frames[row.frame].timestamp?.nanoseconds == Int64(cells[1]))
      #expect(row.pose.position == Array(cells[2..<5]))
      let q = row.pose.orientation
      #expect(q.w >= 0)
      for (found, stated) in zip([q.x, q.y, q.z, q.w], cells[5...]) {
        #expect(abs(found - stated) < 1e-9)
      }
    }
    let intrinsics = capture.intrinsics.value?.map { row in
      [Double(row.frame), Double(row.width ?? 0), Double(row.height ?? 0)]
        + [row.fx, row.fy, row.cx, row.cy]
    }
    #expect(intrinsics ?? [] == expected.intrinsics)
    let settings = capture.cameraSettings.value?.rows.map { row in
      [Double(row.frame), row.exposureSeconds, row.iso, row.exposureOffsetEV]
    }
    #expect(settings ?? [] == expected.cameraSettings)
  }

  @Test("Motion samples are the expected rows", arguments: cases)
  func imu(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture).imu
    let stream = try ARKitScannerSupport.open(fixture.capture).imu.value
    #expect(stream?.sampleCounts ?? [:] == expected.counts)
    let samples = stream?.samples ?? []
    #expect(samples.count == expected.rows)
    let rows = samples.map { sample -> [ARKitScannerExpectation.Cell] in
      [
        .number(Double(sample.timestamp.nanoseconds)), .text(stream?.sensors[sample.sensor] ?? ""),
        .number(sample.x), .number(sample.y), .number(sample.z),
      ]
    }
    expectNear(Array(rows.prefix(expected.first.count)), expected.first)
    expectNear(Array(rows.suffix(expected.last.count)), expected.last)
    #expect(stream?.convention ?? .coremotion == .coremotion)
  }

  private func expectNear(
    _ found: [[ARKitScannerExpectation.Cell]], _ expected: [[ARKitScannerExpectation.Cell]]
  ) {
    #expect(found.count == expected.count)
    for (a, b) in zip(found.joined(), expected.joined()) {
      if case .number(let x) = a, case .number(let y) = b {
        #expect(abs(x - y) <= 1e-12 * abs(y))
      } else {
        #expect(a == b)
      }
    }
  }

  @Test("Warnings are the expected codes and counts, and no others", arguments: cases)
  func warnings(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    #expect(try ARKitScannerSupport.warningCounts(capture) == expected.warningCounts)
    // Subjects too, where opening finds the damage.
    for warning in capture.warnings {
      #expect(
        expected.warnings.contains {
          $0.code == warning.code.rawValue && $0.subject == warning.subject
            && $0.count == warning.count
        }, "\(warning)")
    }
  }

  @Test("Depth and color are one registered camera", arguments: cases)
  func alignment(of fixture: FixtureCase) throws {
    let expected = try expectation(fixture)
    let capture = try ARKitScannerSupport.open(fixture.capture)
    let alignment = try #require(capture.alignment)
    #expect(alignment.registered)
    #expect(alignment.colorFromDepth == .identity)
    #expect(alignment.depthIntrinsics == nil)
    let row = expected.intrinsics.first
    #expect((alignment.colorIntrinsics == nil) == (row == nil))
    guard let row, let color = alignment.colorIntrinsics else { return }
    #expect(
      [Double(color.width), Double(color.height), color.fx, color.fy, color.cx, color.cy]
        == Array(row[1...]))
  }

  @Test("An upload is whole unless the app was killed or a file is cut", arguments: cases)
  func completeness(of fixture: FixtureCase) throws {
    let capture = try ARKitScannerSupport.open(fixture.capture)
    let isCut = ["crashed", "damaged", "g2c"].contains(fixture.name)
    #expect(capture.completeness.isWhole == !isCut, "\(capture.completeness.missing)")
  }

  @Test("Every part names existing files", arguments: cases)
  func files(of fixture: FixtureCase) throws {
    let capture = try ARKitScannerSupport.open(fixture.capture)
    #expect(capture.files[.depth] != nil)
    #expect(capture.files[.frames] != nil)
    for file in capture.files.values.joined() {
      #expect(FileManager.default.fileExists(atPath: file.string), "\(file)")
    }
    #expect((capture.poses.value == nil) == (capture.files[.poses] == nil))
    #expect((capture.intrinsics.value == nil) == (capture.files[.intrinsics] == nil))
  }
}
