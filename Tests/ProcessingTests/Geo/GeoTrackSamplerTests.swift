@testable import Core
@testable import Processing
import Testing

@Suite("Positions and headings at frame times")
struct GeoTrackSamplerTests {
  private static let second: Int64 = 1_000_000_000

  private func position(
    _ seconds: Double, _ latitude: Double, _ longitude: Double, _ accuracy: Double? = 5
  ) -> GeoPosition {
    GeoPosition(
      timestamp: Timestamp(nanoseconds: Int64(seconds * 1e9)), latitude: latitude,
      longitude: longitude, accuracy: accuracy)
  }

  private func heading(_ seconds: Double, _ degrees: Double) -> GeoHeading {
    GeoHeading(timestamp: Timestamp(nanoseconds: Int64(seconds * 1e9)), degrees: degrees)
  }

  private func sample(_ track: GeoTrack, at seconds: Double) -> GeoSample {
    GeoTrackSampler(track).sample(at: Timestamp(nanoseconds: Int64(seconds * 1e9)))
  }

  @Test("Repeated values are no knots: the track between two fixes is straight, without steps")
  func staircase() {
    let track = GeoTrack(positions: [
      position(0, 10, 20), position(1, 10, 20), position(2, 10, 20), position(4, 14, 28),
    ])
    let atTwo = sample(track, at: 2)
    #expect(atTwo.latitude == 12)
    #expect(atTwo.longitude == 24)
    #expect(atTwo.source == .interpolated)
    #expect(sample(track, at: 4).source == .measured)
    #expect(sample(track, at: 0).source == .measured)
  }

  @Test("The last point is a knot even if it repeats the value before it")
  func lastPoint() {
    let track = GeoTrack(positions: [position(0, 10, 20), position(1, 12, 20), position(3, 12, 20)])
    #expect(sample(track, at: 2).latitude == 12)
    #expect(sample(track, at: 3).source == .measured)
    #expect(sample(track, at: 3.5).source == .held)
  }

  @Test("A change of accuracy alone is a new value; between two the larger radius counts")
  func accuracy() {
    let track = GeoTrack(positions: [position(0, 1, 2, 5), position(2, 1, 2, 65)])
    #expect(sample(track, at: 1).accuracy == 65)
    #expect(sample(track, at: 0).accuracy == 5)
    let unknown = GeoTrack(positions: [position(0, 1, 2, 5), position(2, 3, 2, nil)])
    #expect(sample(unknown, at: 1).accuracy == nil)
  }

  @Test("Outside the knots the nearest is held")
  func outside() {
    let track = GeoTrack(positions: [position(1, 10, 20)], headings: [heading(1, 90)])
    for seconds in [0.5, 2.0] {
      let sample = sample(track, at: seconds)
      #expect(sample.latitude == 10)
      #expect(sample.heading == 90)
      #expect(sample.source == .held)
    }
  }

  @Test("Ten seconds are bridged, one nanosecond more is not")
  func longGap() {
    var late = position(10, 20, 20)
    var track = GeoTrack(positions: [position(0, 10, 20), late])
    #expect(sample(track, at: 5).latitude == 15)
    #expect(sample(track, at: 5).source == .interpolated)
    late.timestamp = Timestamp(nanoseconds: 10 * Self.second + 1)
    track.positions[1] = late
    #expect(sample(track, at: 5).latitude == 10)
    #expect(sample(track, at: 5).source == .held)
  }

  @Test("Points are sorted by time; of equal times the last in the file wins")
  func order() {
    let track = GeoTrack(positions: [
      position(4, 14, 20), position(2, 99, 20), position(2, 12, 20), position(0, 10, 20),
    ])
    #expect(sample(track, at: 2).latitude == 12)
    #expect(sample(track, at: 1).latitude == 11)
  }

  @Test(
    "Longitude takes the shorter way and stays in −180 ..< 180",
    arguments: [
      (179.0, -179.0, 0.5, -180.0), (179.0, -179.0, 0.25, 179.5), (-179.0, 179.0, 0.75, 179.5),
      (-179.0, 179.0, 0.5, -180.0), (0.0, 180.0, 0.5, 90.0), (0.0, -180.0, 0.5, -90.0),
    ])
  func longitude(from: Double, to: Double, at seconds: Double, expected: Double) {
    let track = GeoTrack(positions: [position(0, 0, from), position(1, 0, to)])
    #expect(sample(track, at: seconds).longitude == expected)
  }

  @Test(
    "Headings take the shorter way across north and never reach 360; opposite ones turn left",
    arguments: [
      (359.5, 0.5, 0.5, 0.0), (0.5, 359.5, 0.5, 0.0), (350.0, 10.0, 0.75, 5.0),
      (10.0, 350.0, 0.75, 355.0), (0.0, 180.0, 0.5, 270.0), (180.0, 0.0, 0.5, 90.0),
      (90.0, 100.0, 0.5, 95.0), (360.0, 360.0, 0.0, 0.0),
    ])
  func headings(from: Double, to: Double, at seconds: Double, expected: Double) {
    let track = GeoTrack(headings: [heading(0, from), heading(1, to)])
    #expect(sample(track, at: seconds).heading == expected)
  }

  @Test("What rounds to 360 is written 0")
  func almostNorth() throws {
    let track = GeoTrack(headings: [
      heading(0, 359.99999999999994), heading(1, .leastNonzeroMagnitude),
    ])
    for step in 0...100 {
      let heading = try #require(sample(track, at: Double(step) / 100).heading)
      #expect(heading >= 0)
      #expect(heading < 360)
    }
  }

  @Test("Positions and headings have knots of their own; the source speaks for the position")
  func apart() {
    let track = GeoTrack(
      positions: [position(0, 10, 20), position(2, 12, 20)], headings: [heading(1, 90)])
    let sample = sample(track, at: 1)
    #expect(sample.source == .interpolated)
    #expect(sample.heading == 90)
  }

  @Test("Without any point the capture's own values are held, accuracy unknown")
  func held() {
    var track = GeoTrack()
    #expect(sample(track, at: 1) == GeoSample())
    track.heldHeading = 360
    #expect(sample(track, at: 1).heading == 0)
    #expect(sample(track, at: 1).source == .held)
    track.heldLatitude = 1
    #expect(sample(track, at: 1).latitude == nil)
    track.heldLongitude = 2
    let both = sample(track, at: 1)
    #expect(both.latitude == 1)
    #expect(both.longitude == 2)
    #expect(both.accuracy == nil)
    #expect(both.source == .held)
  }

  @Test("Without any position the source speaks for the heading")
  func headingOnly() {
    let track = GeoTrack(headings: [heading(0, 10), heading(2, 30)])
    #expect(sample(track, at: 0).source == .measured)
    #expect(sample(track, at: 1).source == .interpolated)
    #expect(sample(track, at: 3).source == .held)
    #expect(sample(track, at: 1).latitude == nil)
  }

  @Test("Times at the ends of the range do not trap")
  func extremes() {
    let ends = [Int64.min, -1, 0, .max].map(Timestamp.init(nanoseconds:))
    let track = GeoTrack(
      positions: ends.enumerated().map {
        GeoPosition(timestamp: $1, latitude: Double($0), longitude: 0, accuracy: nil)
      })
    let sampler = GeoTrackSampler(track)
    for (index, time) in ends.enumerated() {
      #expect(sampler.sample(at: time).latitude == Double(index))
    }
    #expect(sampler.sample(at: Timestamp(nanoseconds: 5)).source == .held)
  }
}
