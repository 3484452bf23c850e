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

  @Test("A fixture opens with the expected streams and frames", arguments: cases)
  func opens(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    #expect(capture.family == .vislam)
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.count == expected.streams.frames)
    #expect(capture.completeness.isWhole == (fixture.name != "crlf-bom"))
    #expect(capture.recordedAt == nil)

    let color = try #require(capture.color.value)
    #expect(color.description.frames == expected.streams.color.frames)
    #expect(color.description.encoding == expected.streams.color.encoding)
    #expect(color.description.width == expected.streams.color.width)
    #expect(color.description.height == expected.streams.color.height)
    #expect(color.clockwiseQuarterTurns == 0)
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

  @Test("The IMU table follows the expected convention, or says what it lacks", arguments: cases)
  func imu(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try open(fixture)
    guard !expected.mustFail.contains("imu") else {
      let error = try #require(capture.imu.error)
      #expect(error.description.contains("imu_data.csv"))
      #expect(error.description.contains("`z`"))
      return
    }
    #expect(capture.imu.value?.convention.rawValue == expected.imu.convention)
  }
}

/// What an independent encoder says of a fixture, as far as its reader alone decides it.
struct VISLAMExpected: Decodable {
  struct Streams: Decodable {
    struct Color: Decodable {
      var frames, width, height: Int
      var encoding: String
    }
    var frames: Int
    var color: Color
  }
  struct IMU: Decodable {
    var convention: String
  }

  var generation: String
  var streams: Streams
  var colorFrames: Int
  var colorFrameCode: [Int?]
  var exposureS: [Double?]
  var iso: [Double?]
  var imu: IMU
  var mustFail: [String]
}
