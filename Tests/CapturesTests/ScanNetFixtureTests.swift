@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("ScanNet captures", .enabled(if: Fixtures.arePresent, "needs ../shared/fixtures"))
struct ScanNetFixtureTests {
  static let cases = Fixtures.cases(of: "scannet")

  static func open(_ fixture: FixtureCase) throws -> (capture: Capture, expected: ScanNetExpected) {
    let found = ScanNetReader.recognize(try FolderListing(of: fixture.capture))
    #expect(found.count == 1)
    let recognition = try #require(found.first)
    #expect(recognition.certainty == .certain)
    return (
      try ScanNetReader.open(recognition),
      try fixture.json(ScanNetExpected.self, from: "expected.json")
    )
  }

  @Test("Identity and metadata", arguments: cases)
  func identity(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    #expect(capture.id == expected.id)
    #expect(capture.family.rawValue == expected.family)
    #expect(capture.generation == expected.generation)
    #expect(capture.clock == CaptureClock(.uptime, unit: "s"))
    #expect(capture.scene.label == expected.metadata["scene.label"])
    #expect(capture.scene.type == expected.metadata["scene.type"])
    #expect(capture.device.id == expected.metadata["device.id"])
    #expect(capture.device.name == expected.metadata["device.name"])
    #expect(capture.recordedAt == expected.metadata["recordedAt"])
    #expect(capture.completeness.isWhole == (fixture.name != "killed_app"))
    #expect(Set(capture.files.keys).isSuperset(of: [.color, .depth, .imu, .frames, .calibration]))
  }

  @Test("Streams, counted and claimed", arguments: cases)
  func streams(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let found = [
      "color": capture.color.value?.description, "depth": capture.depth.value?.description,
      "imu": capture.imu.value?.description,
      "cameraSettings": capture.cameraSettings.value?.description,
    ]
    for (name, description) in found {
      let description = try #require(description)
      let expected = try #require(expected.streams[name] ?? nil)
      #expect(description.file == expected.file)
      #expect(description.encoding == expected.encoding)
      #expect(description.width == expected.width)
      #expect(description.height == expected.height)
      #expect(description.frames == expected.frames)
      #expect(description.declaredFrames == expected.declaredFrames)
      if expected.encoding == "structure-shift11" {
        #expect(description.firstTimestamp?.nanoseconds == expected.firstTimestampNs)
        #expect(description.lastTimestamp?.nanoseconds == expected.lastTimestampNs)
      }
    }
    let imu = try #require(capture.imu.value)
    #expect(imu.sampleCounts == expected.streams["imu"]??.samples)
    #expect(imu.convention == .coremotion)
    #expect(imu.gapThresholdNanoseconds == Array(repeating: 250_000_000, count: 5))
    #expect(capture.depth.value?.access.recordCount == expected.streams["depth"]??.frames)
  }

  @Test("Stored shifts stay reachable beside the millimeters")
  func storedShifts() throws {
    let (capture, _) = try Self.open(try #require(Self.cases.first { $0.name == "healthy" }))
    let stream = try #require(capture.depth.value)
    let stored = try #require(stream.storedValues)
    let source = try stream.indexed
    var shifts: [UInt16] = []
    var millimeters: [UInt16] = []
    for record in 0..<source.recordCount {
      #expect(try stored.decode(record: record, into: &shifts).hasPicture)
      #expect(try source.decode(record: record, into: &millimeters).hasPicture)
      #expect(shifts.count == 640 * 480)
      #expect(shifts.contains { $0 > 1103 })
      let expected = shifts.map { shift -> UInt16 in
        (1...1103).contains(shift) ? UInt16(1_799_999 / (6809 - 6 * Int(shift))) : 0
      }
      #expect(millimeters == expected)
    }
    #expect(try !source.decode(record: source.recordCount, into: &millimeters).hasPicture)
  }

  @Test("Both cameras and the transform from depth to color", arguments: cases)
  func calibration(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let alignment = try #require(capture.alignment)
    #expect(alignment.registered == expected.alignment.registered)
    let matrix = try #require(alignment.colorFromDepth).rowMajor
    for (value, expected) in zip(matrix, expected.alignment.colorFromDepth) {
      #expect(abs(value - expected) < 1e-5)
    }
    let depth = try #require(expected.intrinsics["depth"])
    #expect(
      alignment.depthIntrinsics
        == PinholeCamera(
          width: 640, height: 480, fx: depth.fx, fy: depth.fy, cx: depth.cx, cy: depth.cy))
    let color = try #require(expected.intrinsics["color"])
    let size = try #require(expected.streams["color"] ?? nil)
    let camera = PinholeCamera(
      width: try #require(size.width), height: try #require(size.height), fx: color.fx,
      fy: color.fy, cx: color.cx, cy: color.cy)
    #expect(alignment.colorIntrinsics == camera)
    #expect(
      capture.intrinsics.value
        == (0..<expected.frames).map {
          IntrinsicsRow(
            frame: $0, width: camera.width, height: camera.height, fx: camera.fx, fy: camera.fy,
            cx: camera.cx, cy: camera.cy)
        })
    #expect(alignment.depthDistortion.isNone && alignment.colorDistortion.isNone)
  }

  @Test("Camera settings", arguments: cases)
  func cameraSettings(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let rows = try #require(capture.cameraSettings.value).rows
    #expect(rows.map(\.frame) == Array(0..<expected.cameraSettings.rows.count))
    #expect(
      rows.map { [$0.gainRed, $0.gainGreen, $0.gainBlue, $0.exposureSeconds, $0.iso] }
        == expected.cameraSettings.rows.map { $0.map(Optional.some) })
    #expect(rows.allSatisfy { $0.exposureOffsetEV == nil })
  }
}
