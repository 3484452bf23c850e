import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

/// What is declared, what is there, and from where on a person has to look.
struct ShortfallTests {
  @Test(arguments: [
    // held, declared, percent, is short
    (69, 70, 2.0, false), (68, 70, 2.0, true), (32, 70, 2.0, true), (98, 100, 2.0, false),
    (97, 100, 2.0, true), (0, 1, 2.0, true), (0, 10, 100.0, false), (9, 10, 10.0, false),
    (9, 10, 9.9, true), (10, 10, 0.0, false), (9, 10, 0.0, true), (11, 10, 0.0, false),
  ])
  func `a stream is short when it has lost more than the percentage`(
    held: Int, declared: Int, percent: Double, isShort: Bool
  ) {
    var claims = [StreamClaim]()
    claims.add("depth", held: held, declared: declared, by: "numDepthFrames")
    let found = Shortfall.found(lacking: claims.lacking, percent: percent)
    #expect(found.count == (isShort ? 1 : 0))
    #expect(found.first?.held == (isShort ? held : nil))
    #expect(found.first?.declared == (isShort ? declared : nil))
  }

  @Test func `the message has the numbers and who declared them`() throws {
    let lacking = [StreamClaim("depth", held: 32, declared: 70, by: "numDepthFrames")]
    let found = try #require(Shortfall.found(lacking: lacking, percent: 2).first)
    #expect(
      found.message
        == "32 of 70 frames are there, declared by numDepthFrames: 54.3 % are lost, more than 2 %")
    #expect(found.warning.code == .shortfall)
    #expect(found.warning.count == 38)
    #expect(found.warning.severity == .warning)
    // One decimal must not hide that it is more.
    let near = [StreamClaim("imu", held: 97_990, declared: 100_000, by: "numIMUmeasurements")]
    #expect(
      Shortfall.found(lacking: near, percent: 2).first?.message.contains("2.01 %")
        == true)
  }

  @Test(arguments: [
    (30, 31, "imu: 3 % lost"), (42, 100, "imu: 58 % lost"), (0, 7, "imu: 100 % lost"),
    (1, 1_000, "imu: 99 % lost"), (995, 1_000, "imu: 0.5 % lost"),
    (99_999, 100_000, "imu: less than 0.1 % lost"),
  ])
  func `people are told how much is lost`(held: Int, declared: Int, words: String) {
    let shortfall = Shortfall(stream: "imu", held: held, declared: declared, message: "")
    #expect(shortfall.lossWords == words)
  }

  @Test func `of several claims about a stream the one by which it lacks most counts`() {
    var claims = [StreamClaim]()
    claims.add("depth", held: 32, declared: 33, by: "numDepthFrames")
    claims.add([
      StreamReport("color", "the pictures", 70), StreamReport("depth", "the depth frames", 32),
      StreamReport("poses", "the poses", nil as Int?),
    ])
    #expect(claims.lacking.map(\.stream) == ["depth"])
    #expect(claims.lacking.first?.declared == 70)
    #expect(claims.lacking.first?.source == "the pictures")
  }

  @Test func `what is not counted or not declared is no claim`() {
    var claims = [StreamClaim]()
    claims.add("depth", held: nil, declared: 10, by: "x")
    claims.add("color", held: 10, declared: nil, by: "x")
    claims.add("imu", held: 0, declared: 0, by: "x")
    claims.add([StreamReport("color", "x", nil as Int?), StreamReport("depth", "y", nil as Int?)])
    #expect(claims.lacking.isEmpty)
  }

  @Test(arguments: [
    // Frames that cannot be decoded, of how many; what opening found; what is left of what.
    (3, 10, nil as StreamClaim?, 7, 10),
    (35, 70, StreamClaim("depth", held: 70, declared: 71, by: "x"), 35, 71),
    // Every tenth frame was looked at, and one of seven was lost.
    (1, 7, StreamClaim("depth", held: 70, declared: 72, by: "x"), 60, 72),
  ])
  func `frames that cannot be decoded are lost`(
    lost: Int, of: Int, claim: StreamClaim?, held: Int, declared: Int
  ) throws {
    let found = Shortfall.found(
      lacking: claim.map { [$0] } ?? [], holes: ["depth": FrameHoles(lost: lost, frames: of)],
      percent: 2)
    #expect(found.map(\.stream) == ["depth"])
    #expect(found.first?.held == held)
    #expect(found.first?.declared == declared)
  }

  /// A frame file each, and depth and confidence of one file per number.
  private static let numbered = [
    StreamReport("poses", "the frame files", 16),
    StreamReport("depth", "the depth files", held: 15, length: 16),
    StreamReport("confidence", "the confidence files", 15),
    StreamReport("color", "the pictures", nil as Int?),
  ]

  @Test func `a number without a file is lost once, wherever it is`() {
    var claims = [StreamClaim]()
    claims.add(Self.numbered)
    #expect(claims.lacking.map(\.stream) == ["depth", "confidence"])
    #expect(claims.lacking.allSatisfy { $0.held == 15 && $0.declared == 16 })
    #expect(claims.lacking.allSatisfy { $0.source == "the frame files" })
    // Three of the files that are there cannot be decoded.
    let found = Shortfall.found(
      lacking: claims.lacking, holes: ["depth": FrameHoles(lost: 3, frames: 15)], percent: 2)
    #expect(found.map(\.held) == [12, 15])
    #expect(found.map(\.declared) == [16, 16])
  }

  @Test func `the stream with the greatest number may lack files itself`() {
    var claims = [StreamClaim]()
    claims.add([
      StreamReport("poses", "the rows", 12),
      StreamReport("depth", "the depth files", held: 13, length: 14),
    ])
    #expect(claims.lacking.map(\.source) == ["the depth files", "the numbers of its files"])
    #expect(claims.lacking.map(\.held) == [12, 13])
    #expect(claims.lacking.map(\.declared) == [14, 14])
  }

  @Test func `a record that never was is no damage, nor is one that a filter leaves out`() {
    let tally = OutcomeTally(subject: "depth")
    tally.add(.picture)
    tally.add(.hole(.corruptRecord, "x"))
    tally.add(RecordOutcome(hasPicture: false))
    #expect(tally.holes(of: 3) == FrameHoles(lost: 1, frames: 2))
    #expect(tally.warnings.map(\.code) == [.corruptRecord])
    tally.add(.hole(.confidenceMissing, "y"))
    #expect(tally.holes(of: 4) == FrameHoles(lost: 1, frames: 3))
  }

  @Test func `damage of one frame in a hundred needs nobody`() {
    #expect(
      Shortfall.found(
        lacking: [], holes: ["color": FrameHoles(lost: 1, frames: 100)], percent: 2
      ).isEmpty)
  }
}

/// Small inputs after public reports in which one stream lost items.
@Suite(
  "After public reports: lost pictures, rows and entries",
  .needsReports)
struct LostPictureReportTests {
  private static func message(_ capture: Capture, _ code: WarningCode) -> String? {
    capture.warnings.first { $0.code == code }?.message
  }

  @Test(
    "The times of a video's pictures say which are lost; all others keep their frames",
    arguments: [
      ("stray-pictures-lost", [5, 11, 12, 17], "pictures 5, 11, 12 and 17 were lost", "number"),
      ("stray-one-picture-lost", [20], "picture 20 was lost", "time"),
    ])
  func lostPictures(name: String, lost: [Int], words: String, way: String) throws {
    let capture = try Capture.report(name + "/capture")
    let color = try #require(capture.color.value)
    let kept = (0..<24).filter { !lost.contains($0) }
    #expect(color.frameOfPicture == kept)
    #expect(capture.frames.indices.filter { capture.frames[$0].colorTimestamp != nil } == kept)
    #expect(Self.message(capture, .frameCountMismatch)?.contains(words) == true)
    #expect(Self.message(capture, .pairingApproximate) == nil)
    #expect(capture.claims.lacking.first { $0.stream == "color" }?.lost == lost.count)
    let pairing = try #require(color.description.pairing)
    #expect(pairing.way.rawValue == way && pairing.paired == kept.count && !pairing.isDoubtful)
    struct Document: Decodable {
      struct Stream: Decodable {
        struct Pairing: Decodable, Equatable {
          var by, with: String
          var paired, of: Int
          var doubtful: Bool
        }
        var pairing: Pairing?
      }
      var streams: [String: Stream?]
    }
    let document = try JSONDecoder().decode(
      Document.self, from: try JSONEncoder().encode(CaptureDocument(capture)))
    #expect(
      document.streams["color"]??.pairing
        == .init(by: way, with: "rows", paired: kept.count, of: kept.count, doubtful: false))
  }

  @Test("Entries of registered frames alone keep the frames of their keys")
  func registeredSubset() throws {
    let capture = try Capture.report("scannetpp-registered-subset/iphone_scene")
    struct Frame: Decodable {
      var aligned_pose: [[Double]]
    }
    let all = try JSONDecoder().decode(
      [String: Frame].self,
      from: try Data(
        contentsOf: URL(
          filePath: try #require(Fixtures.reports)
            .appending("scannetpp-registered-subset/all_poses.json").string)))
    let rows = try #require(capture.poses.value).rows
    #expect(rows.map(\.frame) == [0, 1, 4, 5, 6, 7])
    for row in rows {
      let name = "frame_00000\(row.frame)"
      #expect(row.pose.position == all[name]?.aligned_pose[..<3].map { $0[3] })
    }
    #expect(capture.frames.map { $0.timestamp == nil } == (0..<8).map { [2, 3].contains($0) })
    #expect(capture.color.value?.description.frames == 8)
    #expect(capture.color.value?.frameOfPicture == nil)
  }

  @Test("A video that begins before its table: the first row belongs to its own picture")
  func beforeTable() throws {
    let capture = try Capture.report("vislam-video-starts-before-table/session")
    let text = try String(
      decoding: Data(
        contentsOf: URL(
          filePath: try #require(Fixtures.reports)
            .appending("vislam-video-starts-before-table/true_times_of_the_40_pictures.txt").string)
      ),
      as: UTF8.self)
    let truth = text.split(whereSeparator: \.isNewline).compactMap { Int64($0) }
    let times = capture.frames.compactMap(\.colorTimestamp?.nanoseconds)
    try #require(truth.count == 40 && times.count == 40)
    #expect(zip(times, truth).allSatisfy { abs($0 - $1) <= 2_000_000 })
    #expect(Self.message(capture, .pairingApproximate) == nil)
    #expect(
      capture.color.value?.description.pairing?.words == "by time with the rows, 38 of 40 proved")
  }

  @Test("Even times on both sides decide nothing: both possibilities are told")
  func even() throws {
    let capture = try Capture.report("vislam-even-first-row-missing")
    let message = try #require(Self.message(capture, .pairingApproximate))
    #expect(message.contains("the first or the last picture has no row"))
    #expect(message.contains("up to 33 ms"))
    #expect(capture.color.value?.description.pairing?.isDoubtful == true)
  }
}
