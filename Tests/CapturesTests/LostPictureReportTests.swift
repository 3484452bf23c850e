@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
