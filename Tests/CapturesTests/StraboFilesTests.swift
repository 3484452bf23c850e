import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Processing

/// A Strabo capture in the making.
final class StraboScratch: ScratchCapture {
  static let token = String(repeating: "0123456789abcdef", count: 4)

  convenience init() throws { try self.init(named: Self.token) }

  /// The only file of the folder with that extension, by name.
  func name(ofType type: String) throws -> String? {
    try FileSystem.names(in: folder)
      .first { $0.hasSuffix(".\(type)") && $0 != "capture-info.json" }
  }

  override func open() throws -> Capture { try StraboReader.open(recognition(as: .strabo)) }
}

@Suite("Strabo: which files are meant", .enabled(if: Fixtures.arePresent))
struct StraboFilesTests {
  private static let token = StraboScratch.token

  /// A capture with a movie, geo data and a thumbnail under the token's name; `keys` go into its
  /// description.
  private func scratch(
    _ keys: String, folder: String = StraboScratch.token, type: String = "video"
  ) throws -> StraboScratch {
    let source = try StraboScratch(copyOf: "geo-empty", of: "strabo")
    let scratch = try StraboScratch(named: folder)
    for type in ["mov", "json", "png"] {
      let name = try #require(try source.name(ofType: type))
      try scratch.write(try source.bytes(of: name), to: "\(Self.token).\(type)")
    }
    try describe(scratch, keys, type: type)
    return scratch
  }

  private func describe(_ scratch: StraboScratch, _ keys: String, type: String = "video") throws {
    try scratch.write(
      "{\"media_type\":\"\(type)\",\"token\":\"\(Self.token)\",\"created_at\":1344352260\(keys)}",
      to: "capture-info.json")
  }

  private func color(_ capture: Capture) -> String? { capture.color.value?.description.file }

  /// Codes besides those of the empty geo data.
  private func warnings(_ capture: Capture) -> [String: Int] {
    var counts = capture.warningCounts
    counts["geo-no-fix"] = nil
    return counts
  }

  @Test(
    "A path inside the capture is followed",
    arguments: [
      "x.mov", "\(StraboScratch.token)/x.mov", "\(StraboScratch.token)\\/x.mov", "copied/x.mov",
    ])
  func accepted(path: String) throws {
    let scratch = try scratch(",\"media_file\":\"\(path)\"", folder: "copied")
    try scratch.rename("\(Self.token).mov", to: "x.mov")
    let capture = try scratch.open()
    #expect(color(capture) == "x.mov")
    #expect(warnings(capture).isEmpty)
  }

  @Test(
    "Any other path is rejected and counted, and the usual name is used",
    arguments: [
      "/etc/hostname", "../x.mov", "./x.mov", "a//x.mov", "a/../x.mov", "", "x.mov/", "..", ".",
      "other/x.mov", "\(StraboScratch.token)/a/x.mov", "\(StraboScratch.token)\\\\x.mov", "/x.mov",
      "\(StraboScratch.token)/../x.mov",
    ])
  func rejected(path: String) throws {
    let scratch = try scratch(",\"media_file\":\"\(path)\"")
    try scratch.write([1], to: "../x.mov")
    let capture = try scratch.open()
    #expect(color(capture) == "\(Self.token).mov")
    #expect(warnings(capture) == ["path-outside-capture": 1])
  }

  @Test("A named file that is not there is replaced by the usual one, silently")
  func notThere() throws {
    let scratch = try scratch(",\"media_file\":\"\(Self.token)/gone.mov\",\"geodata_file\":null")
    #expect(warnings(try scratch.open()).isEmpty)
    #expect(color(try scratch.open()) == "\(Self.token).mov")
  }

  @Test("Without the key the token is that of the paths, also in a folder of another name")
  func tokenOfPaths() throws {
    let scratch = try scratch("", folder: "copied")
    let path = "\(Self.token)/\(Self.token)"
    try scratch.write(
      "{\"media_type\":\"video\",\"media_file\":\"\(path).mov\",\"geodata_file\":\"\(path).json\"}",
      to: "capture-info.json")
    let capture = try scratch.open()
    #expect(color(capture) == "\(Self.token).mov")
    #expect(warnings(capture) == ["missing-key": 1])
    #expect(capture.generation == "v1")
  }

  @Test("A single movie or still under any name is found; of two none is")
  func single() throws {
    let scratch = try scratch("")
    try scratch.rename("\(Self.token).mov", to: "clip.MP4")
    #expect(color(try scratch.open()) == "clip.MP4")
    #expect(warnings(try scratch.open()).isEmpty)
    try scratch.write([1], to: "._clip.mov")
    #expect(color(try scratch.open()) == "clip.MP4")
    try scratch.write([1], to: "other.mov")
    let two = try scratch.open()
    #expect(warnings(two) == ["missing-file": 1])
    #expect(two.frames.isEmpty)
    guard case .absent = two.color else {
      Issue.record("color must be absent: \(two.color)")
      return
    }
    #expect(two.geo.value != nil)
  }

  @Test("Missing files are reported one by one")
  func missing() throws {
    let scratch = try scratch("")
    for type in ["json", "png"] { try scratch.remove("\(Self.token).\(type)") }
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 2, "geo-no-fix": 1])
    #expect(capture.completeness.missing.count == 2)
    #expect(capture.geo.value?.track.positions.isEmpty == true)
  }

  @Test("Where a movie and a still carry the token, the kind that is stated is used")
  func bothMedia() throws {
    let source = try StraboScratch(copyOf: "image-exif", of: "strabo")
    let jpeg = try source.bytes(of: try #require(try source.name(ofType: "jpg")))
    for (type, file) in [("video", "mov"), ("image", "jpg"), ("other", "mov")] {
      let scratch = try scratch("", type: type)
      try scratch.write(jpeg, to: "\(Self.token).jpg")
      let capture = try scratch.open()
      #expect(color(capture) == "\(Self.token).\(file)")
      #expect(warnings(capture)["multiple-streams"] == 1)
    }
  }

  @Test("What the file is decides, not its name")
  func sniffed() throws {
    let scratch = try scratch("", type: "image")
    try scratch.rename("\(Self.token).mov", to: "\(Self.token).jpg")
    let capture = try scratch.open()
    #expect(capture.color.value?.description.encoding == "h264")
    #expect(capture.frames.count == 12)
  }

  @Test(
    "Media of no bytes or of junk fail the color alone",
    arguments: [[], [1, 2, 3, 4]] as [[UInt8]])
  func junk(bytes: [UInt8]) throws {
    let scratch = try scratch("")
    try scratch.write(bytes, to: "\(Self.token).mov")
    let capture = try scratch.open()
    #expect(capture.color.error?.file.string.hasSuffix(".mov") == true)
    #expect(capture.geo.value != nil)
    #expect(capture.frames.isEmpty)
    #expect(capture.recordedAt == nil)
    #expect(!capture.completeness.isWhole)
  }

  @Test(
    "Geo data that cannot be read fail the geo table alone", arguments: ["x", "{\"points\":3}"])
  func junkGeo(text: String) throws {
    let scratch = try scratch("")
    try scratch.write(text, to: "\(Self.token).json")
    let capture = try scratch.open()
    #expect(capture.geo.error?.file.string.hasSuffix(".json") == true)
    #expect(capture.color.value != nil)
    #expect(capture.warningCounts.isEmpty)
  }
}

@Suite("Strabo fixtures", .enabled(if: Fixtures.arePresent))
struct StraboFixtureTests {
  private static let cases = Fixtures.cases(of: "strabo")

  @Test("A fixture opens with the expected streams", arguments: cases)
  func opens(fixture: FixtureCase) throws {
    let expected = try fixture.json(StraboExpected.self, from: "expected.json")
    let capture = try fixture.certainCapture()
    #expect(capture.family == .strabo && capture.id == "capture")
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
    let capture = try fixture.certainCapture()
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
    let movie = try fixture.certainCapture()
    #expect(movie.recordedAt == "2012-08-07T15:10:57Z")
    #expect(movie.scene.label == "Café \"A\" / B ☃")
    let still = try #require(Self.cases.first { $0.name == "image-exif" }).certainCapture()
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
