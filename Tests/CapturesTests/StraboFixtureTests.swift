@testable import Captures
@testable import Core
@testable import Processing
import TestSupport
import Testing

@Suite("Strabo fixtures", .enabled(if: Fixtures.arePresent))
struct StraboFixtureTests {
  private static let cases = Fixtures.cases(of: "strabo")

  private func open(_ fixture: FixtureCase) throws -> Capture {
    let listing = try FolderListing(of: fixture.capture)
    let recognition = try #require(StraboReader.recognize(listing).first)
    #expect(recognition.certainty == .certain)
    #expect(recognition.id == "capture")
    return try StraboReader.open(recognition)
  }

  @Test("A fixture opens with the expected streams", arguments: cases)
  func opens(fixture: FixtureCase) throws {
    let expected = try fixture.json(StraboExpected.self, from: "expected.json")
    let capture = try open(fixture)
    #expect(capture.family == .strabo)
    #expect(capture.generation == expected.generation)
    #expect(capture.clock.base == .recordingStart)
    #expect(capture.completeness.isWhole)

    let color = try #require(capture.color.value)
    #expect(color.description.frames == expected.streams.color.frames)
    #expect(color.description.encoding == expected.streams.color.encoding)
    #expect(color.description.width == expected.streams.color.width)
    #expect(color.description.height == expected.streams.color.height)
    #expect(color.clockwiseQuarterTurns == expected.streams.color.clockwiseQuarterTurns)
    #expect(color.frameOfPicture == nil)
    #expect(capture.geo.value?.description.frames == expected.streams.geo.points)

    #expect(capture.frames.map(\.colorTimestamp) == capture.frames.map(\.timestamp))
  }

  @Test("Positions and headings at the frames' times are the expected ones", arguments: cases)
  func geo(fixture: FixtureCase) throws {
    let expected = try fixture.json(StraboExpected.self, from: "expected.json")
    let capture = try open(fixture)
    let geo = try #require(capture.geo.value)
    let sampler = GeoTrackSampler(geo.track)
    #expect(capture.frames.count == expected.geo.rows.count)
    for (frame, row) in zip(capture.frames, expected.geo.rows) {
      let sample = sampler.sample(at: try #require(frame.timestamp))
      #expect(near(sample.latitude, row.latitude, 1e-9))
      #expect(near(sample.longitude, row.longitude, 1e-9))
      #expect(near(sample.accuracy, row.accuracy, 1e-9))
      #expect(near(sample.heading, row.heading, 1e-6))
      #expect(sample.source?.rawValue == row.source)
    }
  }

  private func near(_ a: Double?, _ b: Double?, _ tolerance: Double) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): abs(a - b) <= tolerance
    default: false
    }
  }

  @Test("The start is the end less the movie's length; the title is the scene's label")
  func start() throws {
    let fixture = try #require(Self.cases.first { $0.name == "video-portrait" })
    let movie = try open(fixture)
    #expect(movie.recordedAt == "2012-08-07T15:10:57Z")
    #expect(movie.scene.label == "Café \"A\" / B ☃")
    let still = try open(try #require(Self.cases.first { $0.name == "image-exif" }))
    #expect(still.recordedAt == "2012-08-07T15:11:00Z")
  }
}

/// What an independent encoder says of a fixture.
struct StraboExpected: Decodable {
  struct Streams: Decodable {
    struct Color: Decodable {
      var frames, width, height, clockwiseQuarterTurns: Int
      var encoding: String
    }
    struct Geo: Decodable {
      var points: Int
    }
    var color: Color
    var geo: Geo
  }
  struct Row: Decodable {
    var latitude, longitude, accuracy, heading: Double?
    var source: String?

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      _ = try cells.decode(Int64.self)
      latitude = try cells.decodeIfPresent(Double.self)
      longitude = try cells.decodeIfPresent(Double.self)
      accuracy = try cells.decodeIfPresent(Double.self)
      heading = try cells.decodeIfPresent(Double.self)
      source = try cells.decodeIfPresent(String.self)
    }
  }
  struct Geo: Decodable {
    var rows: [Row]
  }

  var generation: String
  var streams: Streams
  var geo: Geo
}
