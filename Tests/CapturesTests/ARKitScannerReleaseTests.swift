@testable import Captures
@testable import Core
import Testing

@Suite("Released ScanNet++ folders")
struct ARKitScannerReleaseTests {
  private static let rows = "[[1,0,0,0.5],[0,1,0,0.25],[0,0,1,-2],[0,0,0,1]]"
  private static let motion =
    #"{"rotate_rate":[1,2,3],"acceleration":[1,0,0],"gravity":[0,-1,0],"magnet":[9,9,9]}"#

  private func open(_ json: String, exif: String? = nil) throws -> Capture {
    let folder = try ARKitScannerFolder(named: "iphone")
    try folder.write(json, to: "pose_intrinsic_imu.json")
    if let exif { try folder.write(exif, to: "exif.json") }
    let record = ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0))
    try folder.write(
      ARKitScannerDepth.framed(record) + ARKitScannerDepth.framed(record), to: "depth.bin")
    return try folder.open()
  }

  private func frame(_ number: Int, _ fields: String) -> String {
    let digits = String(number)
    return "\"frame_" + String(repeating: "0", count: 6 - digits.count) + digits + "\":{\(fields)}"
  }

  private func counts(_ capture: Capture) -> [String: Int] {
    capture.warnings.reduce(into: [:]) { $0["\($1.code.rawValue) \($1.subject)"] = $1.count }
  }

  @Test("Aligned poses are used as they are, intrinsics by rows, times digit by digit")
  func aligned() throws {
    let first = frame(
      0,
      #""timestamp":24680.12500166628,"pose":\#(Self.rows),"aligned_pose":\#(Self.rows),"#
        + #""intrinsic":[[1500.5,0,960.25],[0,1500.75,720.5],[0,0,1]],"imu":\#(Self.motion)"#)
    let second = frame(10, #""timestamp":24680.3,"aligned_pose":\#(Self.rows)"#)
    let capture = try open("{\(second),\(first)}")
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [24_680_125_001_666]
        + [Int64?](repeating: nil, count: 9) + [24_680_300_000_000])
    let pose = try #require(capture.poses.value?.rows.first?.pose)
    #expect(pose.position == [0.5, 0.25, -2])
    #expect(pose.orientation.w == 1)
    let row = try #require(capture.intrinsics.value?.first)
    #expect([row.fx, row.fy, row.cx, row.cy] == [1500.5, 1500.75, 960.25, 720.5])
    #expect(capture.imu.value?.sensors == ["userAcceleration", "rotationRate", "gravity"])
    #expect(capture.imu.value?.samples.map(\.x) == [9.80665, 1, 0])
    #expect(capture.generation == "scannetpp")
    #expect(counts(capture)["unknown-key"] == nil)
  }

  @Test("The app's own poses count only where no aligned one exists, and then by rows")
  func ownPoses() throws {
    let own = try open("{\(frame(0, #""timestamp":1,"pose":\#(Self.rows)"#))}")
    let pose = try #require(own.poses.value?.rows.first?.pose)
    #expect(pose.position == [0.5, 0.25, -2])
    // ARKit's axes: half a turn about x.
    #expect(pose.orientation.x == 1)
    let both = try open(
      "{" + frame(0, #""timestamp":1,"pose":\#(Self.rows)"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + "}")
    #expect(both.poses.value?.rows.map(\.frame) == [1])
  }

  @Test("Python's NaN is read; such a pose has no row")
  func pythonNaN() throws {
    let rows = Self.rows.replacing("0.25", with: "NaN")
    let capture = try open(
      "{" + frame(0, #""timestamp":1,"aligned_pose":\#(rows)"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + "}")
    #expect(capture.poses.value?.rows.map(\.frame) == [1])
    #expect(counts(capture)["non-finite-value poses"] == 1)
  }

  @Test("Members of another shape cost only themselves")
  func oddShapes() throws {
    let capture = try open(
      "{" + frame(0, #""timestamp":"x","aligned_pose":[[1]],"intrinsic":5,"imu":[]"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + #","other":{}}"#)
    #expect(capture.frames.map { $0.timestamp?.nanoseconds } == [nil, 2_000_000_000])
    #expect(capture.poses.value?.rows.map(\.frame) == [1])
    #expect(counts(capture)["corrupt-record poses"] == 1)
    #expect(counts(capture)["unknown-key pose_intrinsic_imu.json"] == 1)
  }

  @Test(
    "Exposures are keyed by frame name, or in frame order",
    arguments: [
      #"{"frame_000001":{"ISOSpeedRatings":[50]},"frame_000000":{"ISOSpeedRatings":[64]}}"#,
      #"[{"ISOSpeedRatings":[64]},{"ISOSpeedRatings":[50]}]"#,
      "{\n\"99999.9\": {\"ISOSpeedRatings\":[64]},\n\"100000.1\": {\"ISOSpeedRatings\":[50]}\n}",
    ])
  func exposures(exif: String) throws {
    let capture = try open(
      "{" + frame(0, #""timestamp":1"#) + "," + frame(1, #""timestamp":2"#) + "}", exif: exif)
    #expect(capture.cameraSettings.value?.rows.map(\.iso) == [64, 50])
  }
}
