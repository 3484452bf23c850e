@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import Testing

@Suite("export-gpx, export-geojson, export-kml")
struct GeoTests {
  /// Positions and headings by second.
  private static func capture(
    _ positions: [(second: Int64, latitude: Double, longitude: Double)],
    headings: [(second: Int64, degrees: Double)] = [], frames: [Int64?] = [0, 1_500_000_000],
    recordedAt: String? = "2012-08-07T15:10:57Z"
  ) -> SmallCapture {
    var small = SmallCapture(times: frames)
    small.capture.clock = CaptureClock(.recordingStart, unit: "s")
    small.capture.recordedAt = recordedAt
    let track = GeoTrack(
      positions: positions.map {
        GeoPosition(
          timestamp: Timestamp(nanoseconds: $0.second * 1_000_000_000), latitude: $0.latitude,
          longitude: $0.longitude, accuracy: $0.second == 0 ? nil : 5)
      },
      headings: headings.map {
        GeoHeading(
          timestamp: Timestamp(nanoseconds: $0.second * 1_000_000_000), degrees: $0.degrees)
      })
    small.capture.geo = .present(
      GeoStream(
        description: .untold, track: track,
        coverage: .everyFrame))
    return small
  }

  /// A pause, a title of everything that XML must escape, a frame without time.
  private static func full() -> SmallCapture {
    var small = capture(
      [(0, 12.5, -34.25), (1, 12.5001, -34.25), (2, 12.50001, -34.2501), (30, 12.6, -34.3)],
      headings: [(0, 350), (2, 10)], frames: [0, 1_500_000_000, nil])
    small.capture.scene.label = "<b>\"A\" & 'B' ]]> \u{1}\u{B}\u{FFFE} é☃</b>\r\n"
    small.capture.device.model = "iPhone4,1"
    small.capture.user = "Ann"
    return small
  }

  @Test("Every byte of small tracks")
  func snapshots() throws {
    let small = Self.full()
    try Snapshots.check(small.run(ExportGPX.self).texts(), "export-gpx")
    try Snapshots.check(
      small.run(ExportGeoJSON.self).texts(without: ["README.txt"]), "export-geojson")
    try Snapshots.check(small.run(ExportKML.self).texts(without: ["README.txt"]), "export-kml")
  }

  @Test("A track is the same without pictures, of which it depends on none")
  func withoutPictures() throws {
    var small = Self.full()
    let texts = try small.run(ExportGPX.self).texts()
    small.capture.color = .absent("no video")
    #expect(try small.run(ExportGPX.self).texts() == texts)
  }

  @Test("A fix of a frame without a time, or with that of another frame, is given to no other")
  func fixesOfFrames() throws {
    // Frame 1 has no time; its fix carries that of the frame before. Frames 2 and 3 have the same time.
    var small = Self.capture(
      [(0, 10.5, 20.5), (0, 11.5, 20.5), (2, 12.5, 20.5), (2, 13.5, 20.5)],
      frames: [0, nil, 2_000_000_000, 2_000_000_000])
    small.capture.geo = small.capture.geo.map {
      GeoStream(description: $0.description, track: $0.track, coverage: .frames([0, 1, 2, 3]))
    }
    let text = try small.run(ExportGeoJSON.self).text("track.geojson")
    for (frame, latitude) in [(0, 10.5), (2, 12.5), (3, 13.5)] {
      #expect(
        text.contains("[20.5, \(latitude)]}, \"properties\": {\"frame\": \(frame),"), "\(text)")
    }
    #expect(!text.contains("[20.5, 11.5]"))
  }

  @Test(
    "Without a time of day there is no time, and the reason is told",
    arguments: [
      (nil, "the start of the recording is not known"), ("2012-08-07", "only the date is known"),
      ("2012-08-07T15:10:57", "without its time zone"), ("nonsenseT", "without its time zone"),
      ("20T12:99:99Z", "the start of the recording is not known"),
    ] as [(String?, String)])
  func withoutTime(recordedAt: String?, reason: String) throws {
    let small = Self.capture([(0, 1, 2), (1, 1, 3)], recordedAt: recordedAt)
    let gpx = try small.run(ExportGPX.self)
    #expect(try !gpx.text("track.gpx").contains("<time>"))
    #expect(try gpx.text("README.txt").replacing("\n  ", with: " ").contains(reason))
    #expect(try small.run(ExportGeoJSON.self).text("track.geojson").contains("\"time\": null"))
    let kml = try small.run(ExportKML.self).text("track.kml")
    #expect(kml.contains("<coordinates>2,1 3,1</coordinates>"))
    #expect(!kml.contains("gx:Track"))
  }

  @Test(
    "Times of day are UTC, to the nearest millisecond",
    arguments: [
      ("2012-08-07T15:10:57Z", 0, "2012-08-07T15:10:57.000Z"),
      ("2012-08-07T15:10:57+02:00", 499_999, "2012-08-07T13:10:57.000Z"),
      ("2012-12-31T23:59:59-08:00", 500_000, "2013-01-01T07:59:59.001Z"),
      ("1969-12-31T23:59:59Z", 999_600_000, "1970-01-01T00:00:00.000Z"),
      ("1969-12-31T23:59:58Z", 400_000_000, "1969-12-31T23:59:58.400Z"),
    ] as [(String, Int64, String)])
  func times(recordedAt: String, nanoseconds: Int64, text: String) throws {
    let capture = Self.capture([(0, 1, 2)], recordedAt: recordedAt).capture
    let clock = try AbsoluteClock(capture)
    #expect(clock.text(Timestamp(nanoseconds: nanoseconds)) == text)
    // On a clock of its own, the first frame's time is the start.
    var other = capture
    other.clock = CaptureClock(.uptime, unit: "s")
    other.frames = [CaptureFrame(), CaptureFrame(timestamp: Timestamp(nanoseconds: 77))]
    #expect(try AbsoluteClock(other).text(Timestamp(nanoseconds: 77 + nanoseconds)) == text)
    let start = try #require(clock.text(Timestamp(nanoseconds: 0)))
    let late = clock.text(Timestamp(nanoseconds: .max))
    // Beyond what 64 bits hold there is no time; before 1970 the sum still fits.
    #expect(start < "1970" ? late?.hasPrefix("2262") == true : late == nil)
  }

  @Test(
    "A line across 180° is cut there, with the interpolated latitude on both sides",
    arguments: [
      ([(179, 0), (-179, 1)], [[(179, 0), (180, 0.5)], [(-180, 0.5), (-179, 1)]]),
      ([(-179, 0), (178, 3)], [[(-179, 0), (-180, 1)], [(180, 1), (178, 3)]]),
      ([(180, 5), (-179, 6), (-178, 7)], [[(-180, 5), (-179, 6), (-178, 7)]]),
      ([(178, 4), (180, 5), (-179, 6)], [[(178, 4), (180, 5)], [(-180, 5), (-179, 6)]]),
      ([(179, 0), (-180, 1)], [[(179, 0), (180, 1)]]),
      ([(10, 0), (-10, 1)], [[(10, 0), (-10, 1)]]),
      (
        [(179, 0), (-179, 2), (179, 4)],
        [[(179, 0), (180, 1)], [(-180, 1), (-179, 2), (-180, 3)], [(180, 3), (179, 4)]]
      ),
    ] as [([(Double, Double)], [[(Double, Double)]])])
  func antimeridian(line: [(Double, Double)], pieces: [[(Double, Double)]]) {
    let cut = GeoPoint.cut(line.map { GeoPoint(longitude: $0.0, latitude: $0.1) })
    #expect(cut == pieces.map { $0.map { GeoPoint(longitude: $0.0, latitude: $0.1) } })
  }

  @Test("A track across 180° is a MultiLineString; GPX never says 180")
  func crossing() throws {
    let small = Self.capture([(0, -16.5, 179.5), (1, -16.25, 180), (2, -16, -179.5)])
    let json = try small.run(ExportGeoJSON.self).text("track.geojson")
    #expect(
      json.contains(
        """
        "type": "MultiLineString", "coordinates": [[[179.5, -16.5], [180.0, -16.25]], \
        [[-180.0, -16.25], [-179.5, -16.0]]]
        """))
    #expect(try small.run(ExportGPX.self).text("track.gpx").contains("lon=\"-180\""))
  }

  @Test("One distinct position is a Point, fixes on their own are points beside the lines")
  func points() throws {
    let one = try Self.capture([(0, 1, 2), (1, 1, 2)]).run(ExportGeoJSON.self)
    #expect(
      try one.text("track.geojson").contains("{\"type\": \"Point\", \"coordinates\": [2.0, 1.0]}"))
    let lonely = Self.capture([(0, 1, 2), (1, 1, 3), (20, 5, 6), (40, 7, 8)])
    let text = try lonely.run(ExportGeoJSON.self).text("track.geojson")
    #expect(text.contains("\"LineString\", \"coordinates\": [[2.0, 1.0], [3.0, 1.0]]"))
    #expect(text.contains("\"MultiPoint\", \"coordinates\": [[6.0, 5.0], [8.0, 7.0]]"))
  }

  @Test("A capture without frames has its track, one without positions a reason")
  func withoutFrames() throws {
    let small = Self.capture([(0, 1, 2), (1, 1, 3)], frames: [])
    for kind in [ExportGPX.self, ExportGeoJSON.self, ExportKML.self] as [any ExportStage.Type] {
      let parameters = ParameterValues(defaultsOf: kind.parameters)
      let summary = CaptureSummary(small.capture, readerVersion: 1)
      guard case .applies = kind.applicability(parameters, summary) else {
        Issue.record("\(kind.name) does not apply")
        continue
      }
      #expect(try small.run(kind).text("export.json").contains("\"frames\" : 0"))
      var none = small
      none.capture.geo = .absent("no file")
      let absent = CaptureSummary(none.capture, readerVersion: 1)
      guard case .notApplicable(let why) = kind.applicability(parameters, absent) else {
        Issue.record("\(kind.name) applies")
        continue
      }
      #expect(why == "no position: no file")
    }
  }

  @Test("A single fix gives one point, and the first frame has it")
  func singleFix() throws {
    var small = Self.capture([(0, 1, 2)], frames: [0, 5, 10])
    var geo = try #require(small.capture.geo.value)
    geo.coverage = .firstFrameOnly
    small.capture.geo = .present(geo)
    let gpx = try small.run(ExportGPX.self)
    #expect(try gpx.text("track.gpx").components(of: "<trkpt ") == 1)
    #expect(try gpx.account().frames == [0])
    #expect(try gpx.account().leftOut == ["no-position": 2])
    let kml = try small.run(ExportKML.self).text("track.kml")
    #expect(kml.components(of: "<gx:coord>") == 1 && kml.components(of: "<when>") == 1)
    #expect(!kml.contains("gx:angles"), "no heading was recorded")
  }

  @Test(
    "Altitudes stand where a format has a place for them; frames without a fix have no position")
  func altitudes() throws {
    var small = Self.capture([(0, 1, 2), (1, 1, 3)], frames: [0, 500_000_000, 1_000_000_000])
    var geo = try #require(small.capture.geo.value)
    geo.coverage = .frames([0, 2])
    geo.track.positions[0].altitude = 54.5
    small.capture.geo = .present(geo)
    let gpx = try small.run(ExportGPX.self)
    let xml = try gpx.text("track.gpx")
    #expect(xml.components(of: "<ele>54.5</ele>") == 2, "of the track and of the frame")
    #expect(xml.components(of: "<ele>") == 2, "unknown is left out")
    let (ele, time) = (xml.firstRange(of: "<ele>"), xml.firstRange(of: "<trkpt"))
    #expect(ele != nil && time != nil)
    #expect(try gpx.account().leftOut == ["no-position": 1])
    #expect(try gpx.text("README.txt").contains("no position"))
    #expect(try !gpx.text("README.txt").contains("There is no altitude"))
    let json = try small.run(ExportGeoJSON.self).text("track.geojson")
    #expect(json.contains("\"altitude_m\": 54.5") && json.contains("\"altitude_m\": null"))
    let kml = try small.run(ExportKML.self).text("track.kml")
    #expect(kml.contains("2 1 54.5</gx:coord>") && kml.contains("3 1 0</gx:coord>"))
  }
}

@Suite("Libraries that are loaded when they are first used")
struct LoadedLibraryTests {
  @Test("The first file that is there counts; what is lacking tells what to install")
  func lacking() throws {
    let library = try LoadedLibrary("libabsent.so.9", "libc.so.6", package: "libc6")
    let length: @convention(c) (UnsafePointer<CChar>) -> Int = try library.function("strlen")
    #expect(length("four") == 4)
    typealias Action = @convention(c) () -> Void
    let noFunction = #expect(throws: StageFailure.self) {
      let _: Action = try library.function("absent")
    }
    #expect(noFunction?.description == "libc.so.6 has no absent: install a newer libc6")
    let noFile = #expect(throws: StageFailure.self) {
      try LoadedLibrary("libabsent.so.9", "libabsent.so.8", package: "absent9")
    }
    #expect(noFile?.description == "libabsent.so.9 cannot be loaded: install absent9")
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { split(separator: part).count - 1 }
}
