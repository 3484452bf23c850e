@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("VI-SLAM fixtures", .enabled(if: Fixtures.arePresent))
struct VISLAMFixtureTests {
  private static let cases = Fixtures.cases(of: "vi-slam")

  private func open(_ fixture: FixtureCase) throws -> Capture {
    let listing = try FolderListing(of: fixture.capture)
    let recognition = try #require(VISLAMReader.recognize(listing).first)
    #expect(recognition.certainty == .certain)
    #expect(recognition.id == "capture")
    return try VISLAMReader.open(recognition)
  }

  @Test("A fixture opens with the expected streams, frames and warnings", arguments: cases)
  func opens(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    #expect(capture.family == .vislam)
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.count == expected.streams.frames)
    #expect(capture.warningCounts == expected.warningCounts)
    #expect(capture.completeness.isWhole == (fixture.name != "crlf-bom"))
    #expect(capture.recordedAt == nil)

    let color = try #require(capture.color.value)
    #expect(color.description.frames == expected.streams.color.frames)
    #expect(color.description.encoding == expected.streams.color.encoding)
    #expect(color.description.width == expected.streams.color.width)
    #expect(color.description.height == expected.streams.color.height)
    #expect(color.clockwiseQuarterTurns == 0)
    #expect(capture.frames.map { $0.timestamp?.nanoseconds } == expected.timestampsNs.frames)
    #expect(capture.frames.map { $0.colorTimestamp?.nanoseconds } == expected.timestampsNs.color)
  }

  @Test("Every picture is assigned to the frame whose number it shows", arguments: cases)
  func pictures(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    let color = try #require(capture.color.value)
    let pictures = color.description.frames ?? 0
    let frames = color.frameOfPicture ?? Array(0..<pictures)
    let shown = expected.colorFrameCode.indices.filter { expected.colorFrameCode[$0] != nil }
    #expect(frames == shown)
    #expect(frames.count == expected.colorFrames)
  }

  @Test("Exposure and ISO are those of the rows, unknown where the app writes 0", arguments: cases)
  func settings(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    var exposures = [Double?](repeating: nil, count: capture.frames.count)
    var isos = exposures
    for row in capture.cameraSettings.value?.rows ?? [] {
      exposures[row.frame] = row.exposureSeconds
      isos[row.frame] = row.iso
    }
    #expect(exposures == expected.exposureS)
    #expect(isos == expected.iso)
  }

  @Test("The IMU table holds the expected samples", arguments: cases)
  func imu(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    guard !expected.mustFail.contains("imu") else {
      let error = try #require(capture.imu.error)
      #expect(error.description.contains("imu_data.csv"))
      #expect(error.description.contains("`z`"))
      return
    }
    let imu = try #require(capture.imu.value)
    #expect(imu.sampleCounts == expected.imu.samples)
    #expect(imu.convention.rawValue == expected.imu.convention)
    for (sample, row) in [
      (imu.samples.first, expected.imu.first), (imu.samples.last, expected.imu.last),
    ] {
      let sample = try #require(sample)
      #expect(sample.timestamp.nanoseconds == row?.timestamp)
      #expect(imu.sensors[sample.sensor] == row?.sensor)
      #expect([sample.x, sample.y, sample.z] == row?.values)
    }
    for (sensor, name) in imu.sensors.enumerated() {
      let times = imu.timestamps(ofSensor: sensor)
      let counts = capture.frames.map { frame in
        times.count { abs($0 - (frame.timestamp ?? $0)) <= expected.imu.windowNs }
      }
      #expect(counts == expected.imu.samplesPerFrame[name])
    }
  }
}

/// What an independent encoder says of a fixture.
struct VISLAMExpected: Decodable {
  struct Streams: Decodable {
    struct Color: Decodable {
      var frames: Int
      var width: Int
      var height: Int
      var encoding: String
    }
    var frames: Int
    var color: Color
  }
  struct Times: Decodable {
    var frames: [Int64?]
    var color: [Int64?]
  }
  struct Warning: Decodable {
    var code: String
    var count: Int
  }
  struct Row: Decodable {
    var timestamp: Int64
    var sensor: String
    var values: [Double]

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      timestamp = try cells.decode(Int64.self)
      sensor = try cells.decode(String.self)
      values = []
      while !cells.isAtEnd { values.append(try cells.decode(Double.self)) }
    }
  }
  struct IMU: Decodable {
    var samples: [String: Int]
    var first: Row?
    var last: Row?
    var windowNs: Int64
    var samplesPerFrame: [String: [Int]]
    var convention: String
  }

  var generation: String
  var streams: Streams
  var colorFrames: Int
  var colorFrameCode: [Int?]
  var timestampsNs: Times
  var exposureS: [Double?]
  var iso: [Double?]
  var imu: IMU
  var warnings: [Warning]
  var mustFail: [String]

  var warningCounts: [String: Int] {
    warnings.reduce(into: [:]) { $0[$1.code, default: 0] += $1.count }
  }
}
