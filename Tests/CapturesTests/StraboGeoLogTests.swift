import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

@Suite("Strabo: geo data")
struct StraboGeoLogTests {
  /// Reads points of a capture whose movie lasts two seconds.
  private func read(
    _ text: String, mediaNanoseconds: Int64? = 2_000_000_000
  ) throws -> (log: StraboGeoLog, warnings: [String: Int]) {
    let scratch = try StraboScratch()
    try scratch.write(text, to: "geo.json")
    let warnings = WarningCollector()
    let log = try StraboGeoLog(
      scratch.folder.appending("geo.json"), mediaNanoseconds: mediaNanoseconds, warnings: warnings)
    return (
      log, warnings.warnings.reduce(into: [:]) { $0[$1.code.rawValue, default: 0] += $1.count }
    )
  }

  private func points(_ points: String...) -> String {
    "{\"points\":[\(points.joined(separator: ","))]}"
  }

  private func point(_ time: String, _ more: String = "") -> String {
    "{\"timestamp\":\(time),\"accuracy\":5,\"coords\":[1.5,2.5],\"heading\":10\(more)}"
  }

  @Test(
    "Times are exact decimals, also as text",
    arguments: [
      ("0.060824018067527644", 60_824_018), ("1234567.0000000005", 1_234_567_000_000_001),
      ("\"1.5\"", 1_500_000_000), ("1e-9", 1), ("2", 2_000_000_000), ("-0.25", -250_000_000),
      ("0.1234567890123456789012345678901234567890123", 123_456_789), ("5e-324", 0),
    ] as [(String, Int64)])
  func times(text: String, nanoseconds: Int64) throws {
    let (log, _) = try read(points(point(text)))
    #expect(log.times.map(\.nanoseconds) == [nanoseconds])
  }

  @Test("A log that breaks off keeps its complete points; one without any is unreadable")
  func cut() throws {
    let whole = points(point("0"), point("1"), point("2"))
    for length in whole.indices {
      let text = String(whole[..<length])
      guard let (log, warnings) = try? read(text) else {
        #expect(text.count < points(point("0")).count)
        continue
      }
      #expect(warnings == ["truncated-stream": 1])
      let expected: [Int64] = [0, 1_000_000_000, 2_000_000_000]
      #expect(log.times.map(\.nanoseconds) == Array(expected.prefix(log.times.count)))
    }
    let merged = "{\"title\":\"x\"," + whole.dropFirst().dropLast() + ",\"heading\":"
    #expect(try read(merged).log.times.count == 3)
  }

  @Test("A point of another day is dropped and moves nothing", arguments: ["1e6", "-90000", "9e9"])
  func farOff(time: String) throws {
    let (log, warnings) = try read(points(point("0"), point(time), point("1"), point("2")))
    #expect(warnings == ["corrupt-record": 1])
    #expect(log.times.map(\.nanoseconds) == [0, 1_000_000_000, 2_000_000_000])
  }

  @Test(
    "A point without usable time or coordinates is dropped and counted",
    arguments: [
      "{}", "7", "null", "\"x\"", "[]", "{\"timestamp\":1}", "{\"coords\":[1,2]}",
      "{\"timestamp\":null,\"coords\":[1,2]}", "{\"timestamp\":true,\"coords\":[1,2]}",
      "{\"timestamp\":\"soon\",\"coords\":[1,2]}", "{\"timestamp\":1e300,\"coords\":[1,2]}",
      "{\"timestamp\":1,\"coords\":[1]}", "{\"timestamp\":1,\"coords\":[null,2]}",
      "{\"timestamp\":1,\"coords\":{}}", "{\"timestamp\":1,\"coords\":[90.1,2]}",
      "{\"timestamp\":1,\"coords\":[1,-180.5]}", "{\"timestamp\":1,\"coords\":[\"a\",2]}",
    ])
  func corrupt(bad: String) throws {
    let (log, warnings) = try read(points(point("0"), bad, point("1")))
    #expect(warnings == ["corrupt-record": 1])
    #expect(log.times.count == 2)
    #expect(log.track.positions.count == 2)
  }

  @Test(
    "A position without fix or with negative accuracy is none; its heading counts all the same",
    arguments: [
      "{\"timestamp\":1,\"accuracy\":0,\"coords\":[0,0],\"heading\":20}",
      "{\"timestamp\":1,\"accuracy\":-1,\"coords\":[3,4],\"heading\":20}",
      "{\"timestamp\":1,\"accuracy\":\"0\",\"coords\":[\"0\",\"0.0\"],\"heading\":\"20\"}",
    ])
  func noFix(point written: String) throws {
    let (log, warnings) = try read(points(point("0"), written))
    #expect(warnings == ["geo-no-fix": 1])
    #expect(log.track.positions.count == 1)
    #expect(log.track.headings.map(\.degrees) == [10, 20])
  }

  @Test(
    "Headings below 0 and above 360 are none, 360 is 0, null is not 0",
    arguments: [
      ("0", 0), ("359.9", 359.9), ("360", 0), ("-1", nil), ("360.1", nil), ("null", nil),
      ("\"12.5\"", 12.5), ("\"north\"", nil), ("false", nil),
    ] as [(String, Double?)])
  func headings(text: String, degrees: Double?) throws {
    let (log, warnings) = try read(
      points("{\"timestamp\":0,\"accuracy\":5,\"coords\":[1,2],\"heading\":\(text)}"))
    #expect(log.track.headings.map(\.degrees) == [degrees].compactMap { $0 })
    #expect(warnings.isEmpty)
  }

  @Test("An unknown accuracy stays unknown")
  func accuracy() throws {
    let (log, warnings) = try read(
      points(
        "{\"timestamp\":0,\"accuracy\":null,\"coords\":[0,0]}",
        "{\"timestamp\":1,\"coords\":[90,-180]}"))
    #expect(log.track.positions.map(\.accuracy) == [nil, nil])
    #expect(log.track.headings.isEmpty)
    #expect(warnings.isEmpty)
  }

  @Test("Points left over from an earlier recording are dropped, points past the end are not")
  func stale() throws {
    let text = points(
      point("3.0"), point("3.000000001"), point("900"), point("0"), point("1"), point("500"))
    let (log, warnings) = try read(text)
    #expect(log.times.map(\.nanoseconds) == [0, 1_000_000_000, 3_000_000_000, 500_000_000_000])
    #expect(warnings == ["geo-unordered": 1])
    let (kept, _) = try read(text, mediaNanoseconds: nil)
    #expect(kept.times.count == 6)
    let (noZero, _) = try read(points(point("900"), point("0.1")))
    #expect(noZero.times.count == 2)
  }

  @Test("Steps back and equal times are counted")
  func order() throws {
    let (log, warnings) = try read(
      points(point("0"), point("2"), point("1"), point("1"), point("2"), point("0.5")))
    #expect(warnings == ["geo-unordered": 2, "timestamps-duplicate": 2])
    #expect(log.track.positions.count == 6)
  }

  @Test("No points at all is one thing missing")
  func empty() throws {
    #expect(try read(points()).warnings == ["geo-no-fix": 1])
    #expect(try read(points("7")).warnings == ["geo-no-fix": 1, "corrupt-record": 1])
    #expect(
      try read(points(point("900"), "{\"timestamp\":0,\"coords\":[99,0]}")).warnings
        == ["corrupt-record": 1])
  }

  @Test(
    "What is no JSON object with a list of points cannot be read",
    arguments: [
      "", "{", "[]", "{}", "{\"points\":7}", "{\"points\":null}", "{\"points\":{}}", "\0\0",
    ])
  func unreadable(text: String) throws {
    #expect(throws: CaptureError.self) { try read(text) }
  }

  @Test("Merged objects of the server are read by their points")
  func merged() throws {
    let (log, _) = try read(
      "{\"title\":\"x\",\"token\":\"y\",\"points\":[\(point("0", ",\"altitude\":7"))]}")
    #expect(log.times.count == 1)
  }
}

@Suite("Strabo: recognition and description")
struct StraboInfoTests {
  private func open(_ text: String, folder: String = "copied") throws -> Capture {
    let scratch = try StraboScratch(named: folder)
    try scratch.write(text, to: "capture-info.json")
    return try scratch.open()
  }

  private func recognize(_ text: String?) throws -> [Recognition] {
    let scratch = try StraboScratch(named: "folder name")
    if let text { try scratch.write(text, to: "capture-info.json") }
    try scratch.write([0], to: ".DS_Store")
    return StraboReader.recognize(try FolderListing(of: scratch.folder))
  }

  @Test("A description with media type or geo file is a capture, under its folder's name")
  func recognized() throws {
    for text in ["{\"media_type\":\"image\"}", "{\"geodata_file\":\"a\"}"] {
      let found = try recognize(text)
      #expect(found.map(\.certainty) == [.certain])
      #expect(found.first?.id == "folder name")
    }
  }

  @Test(
    "Other objects and folders without description are none",
    arguments: [nil, "{}", "{\"token\":1}"])
  func notRecognized(text: String?) throws {
    #expect(try recognize(text).isEmpty)
  }

  @Test("A description that is no JSON object cannot be opened", arguments: ["", "{", "[]", "\0"])
  func broken(text: String) throws {
    #expect(try recognize(text).map(\.certainty) == [.possible])
    #expect(throws: CaptureError.self) { try open(text) }
  }

  @Test("Unknown and missing keys are counted; other missing keys are silent")
  func keys() throws {
    let capture = try open("{\"geodata_file\":\"a.json\",\"media_type\":null,\"mood\":1,\"x\":[]}")
    #expect(
      capture.warningCounts
        == ["unknown-key": 2, "missing-key": 2, "missing-file": 3, "geo-no-fix": 1])
    #expect(capture.scene.label == nil)
    #expect(capture.recordedAt == nil)
  }

  @Test(
    "The generation is told by token and paths",
    arguments: [
      ("\"token\":\"T\",\"media_file\":\"T/T.mov\"", "v1"),
      ("\"token\":\"T\",\"media_file\":\"T.mov\"", "v0"), ("\"token\":\"T\"", "v0"),
      ("\"token\":\"0123456789abcdef0123456789abcdef\",\"media_file\":\"a/b\"", "v0"),
      ("\"token\":12345,\"media_file\":\"a/b\"", "v0"), ("\"media_file\":\"a/b\"", "v0"),
      ("\"token\":\"T\",\"media_file\":\"T/T.mov\",\"geodata_file\":\"T.json\"", "v0"),
    ])
  func generation(keys: String, generation: String) throws {
    let text = "{\"media_type\":\"video\",\(keys.replacing("T", with: StraboScratch.token))}"
    #expect(try open(text).generation == generation)
  }

  @Test(
    "The moment of an image is its creation; text for number is understood",
    arguments: [
      ("1344352260", "2012-08-07T15:11:00Z"), ("\"1344352260\"", "2012-08-07T15:11:00Z"),
      ("1344352260.9", "2012-08-07T15:11:00Z"), ("0", nil), ("\"\"", nil), ("null", nil),
      ("\"soon\"", nil), ("1e300", nil), ("-5", nil),
    ] as [(String, String?)])
  func createdAt(value: String, recordedAt: String?) throws {
    #expect(
      try open("{\"media_type\":\"image\",\"created_at\":\(value)}").recordedAt == recordedAt)
  }

  @Test("The date of the upload and how the device was held are stated where the app knows them")
  func told() throws {
    let told = try open(
      "{\"media_type\":\"image\",\"uploaded_at\":\"1344352260\",\"orientation\":\"vertical\"}")
    #expect(told.uploadedAt == "2012-08-07T15:11:00Z")
    #expect(told.orientation == "vertical")
    #expect(told.recordedAt == nil)
    let silent = try open("{\"media_type\":\"image\",\"uploaded_at\":0,\"orientation\":\"\"}")
    #expect(silent.uploadedAt == nil)
    #expect(silent.orientation == nil)
  }

  @Test(
    "Position and heading of the description are held where they are usable",
    arguments: [
      ("\"coords\":[1.5,-2.5],\"heading\":90", 1.5, -2.5, 90),
      ("\"coords\":[\"1.5\",\"-2.5\"],\"heading\":\"360\"", 1.5, -2.5, 360),
      ("\"coords\":[0,0],\"heading\":-1", nil, nil, nil),
      ("\"coords\":[91,0],\"heading\":361", nil, nil, nil),
      ("\"coords\":[1,181]", nil, nil, nil), ("\"coords\":[1]", nil, nil, nil),
      ("\"coords\":null,\"heading\":null", nil, nil, nil), ("\"coords\":[0,5]", 0, 5, nil),
    ] as [(String, Double?, Double?, Double?)])
  func held(keys: String, latitude: Double?, longitude: Double?, heading: Double?) throws {
    let track = try open("{\"media_type\":\"image\",\(keys)}").geo.value?.track
    #expect(track?.heldLatitude == latitude)
    #expect(track?.heldLongitude == longitude)
    #expect(track?.heldHeading == heading)
  }

  @Test("Wrong bytes in the texts never trap", .enabled(if: Fixtures.arePresent))
  func wrongBytes() throws {
    let scratch = try StraboScratch(copyOf: "geo-disorder", of: "strabo")
    let geo = try #require(try scratch.name(ofType: "json"))
    var random = SeededGenerator(seed: 2012)
    for file in ["capture-info.json", geo] {
      let bytes = try scratch.bytes(of: file)
      for round in 0..<80 {
        var damaged = bytes
        if round % 2 == 0 {
          damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(
            truncatingIfNeeded: random.next())
        } else {
          damaged = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count))))
        }
        try scratch.write(damaged, to: file)
        _ = try? scratch.open()
        _ = StraboReader.recognize(try FolderListing(of: scratch.folder))
      }
      try scratch.write(bytes, to: file)
    }
    #expect(try scratch.open().frames.count == 48)
  }
}
