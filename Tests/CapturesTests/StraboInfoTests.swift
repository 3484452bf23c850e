@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
