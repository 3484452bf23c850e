@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import Testing

@Suite("export-tum")
struct TUMTests {
  /// Frame 2 has no depth, frame 1 no pose; depth is 2 ms late.
  private static func capture() -> SmallCapture {
    var small = SmallCapture(times: (0..<4).map { 1_999_999_999 + 33_000_000 * $0 })
    for frame in 0..<4 {
      small.capture.frames[frame].depthTimestamp =
        small.capture.frames[frame].timestamp?.advanced(byNanoseconds: 2_000_000)
    }
    small.depthFrames = [0, 1, 3]
    small.addCameras([0, 2, 3])
    return small
  }

  @Test("Every text byte of a small export")
  func snapshot() throws {
    let output = try Self.capture().run(ExportTUM.self, ["share": "copy"])
    try Snapshots.check(output.texts(), "export-tum")
  }

  @Test("Depth is millimeters × 5, nothing above 13,107 mm")
  func depth() throws {
    let output = try Self.capture().run(ExportTUM.self)
    let picture = try PNGReader.depth(at: output.file("depth/2.100999999.png"))
    #expect(
      picture.millimeters
        == [0, 5, 65_535, 0, 0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 15])
  }

  @Test("Of two depth pictures of one time the first stays; the other is said")
  func sameDepthTime() throws {
    var small = Self.capture()
    small.capture.frames[1].depthTimestamp = small.capture.frames[0].depthTimestamp
    let output = try small.run(ExportTUM.self)
    #expect(output.names.filter { $0.hasPrefix("depth/") }.count == 2)
    let pairs = try output.text("associations.txt").lines
    #expect(pairs.map { $0.prefix(11) } == ["1.999999999", "2.098999999"])
    #expect(try output.text("export.json").contains("\"depthLeftOut\" : 1"))
    #expect(try output.text("README.txt").contains("1 depth pictures have the time"))
  }

  @Test("Without depth and poses there are color pictures and rgb.txt alone, all shared")
  func colorOnly() throws {
    var small = SmallCapture(times: [0, 10, 10, nil])
    small.pictureHoles = []
    let output = try small.run(ExportTUM.self, ["share": "link"])
    #expect(
      output.names.sorted()
        == [
          "README.txt", "export.json", "frames.csv", "rgb.txt", "rgb/0.000000000.png",
          "rgb/0.000000010.png",
        ])
    let (frames, leftOut) = try output.account()
    #expect(frames == [0, 1])
    #expect(leftOut == ["no-time": 1, "time-not-increasing": 1])
  }

  @Test(
    "With clock=unix times count from 1970 by the start of the recording; unknown, there is no export"
  )
  func clock() throws {
    var small = Self.capture()
    let unix = ["clock": "unix"]
    let error = #expect(throws: StageDoesNotApply.self) { try small.run(ExportTUM.self, unix) }
    #expect(error?.description.contains("start of the recording is not known") == true)
    small.capture.recordedAt = "2026-11-28T05:00:00.250Z"
    let output = try small.run(ExportTUM.self, unix)
    #expect(output.names.contains("rgb/1795842000.250000000.png"))
    #expect(output.names.contains("rgb/1795842000.283000000.png"))
    #expect(output.names.contains("depth/1795842000.252000000.png"))
    #expect(try output.text("groundtruth.txt").contains("\n1795842000.250000000 "))
    // The list of frames stays on the clock of the capture.
    #expect(try output.text("frames.csv").contains("0,1999999999,rgb/1795842000.250000000.png"))
    #expect(try output.text("README.txt").contains("since 1970"))
    // A clock that counts from 1970 already is left alone.
    small.capture.clock = CaptureClock(.unix, unit: "ns")
    #expect(try small.run(ExportTUM.self, unix).names.contains("rgb/1.999999999.png"))
  }

  @Test("A bag with clock=unix moves pictures, poses and samples alike")
  func clockOfBag() throws {
    var small = Self.capture()
    small.addIMU([1_989_999_999, 1_999_999_999])
    small.capture.recordedAt = "2026-11-28T05:00:00Z"
    let output = try small.run(ExportMCAP.self, ["clock": "unix"])
    let times = ParsedMCAP(try output.bytes("bag/bag.mcap")).times
    #expect(times["/imu0"] == [1_795_841_999_990_000_000, 1_795_842_000_000_000_000])
    #expect(times["/cam0/image_raw/compressed"]?.first == 1_795_842_000_000_000_000)
    #expect(times["/pose"]?.first == 1_795_842_000_000_000_000)
  }
}
