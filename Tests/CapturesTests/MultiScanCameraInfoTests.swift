@testable import Captures
@testable import Core
import Testing

@Suite("MultiScan camera info")
struct MultiScanCameraInfoTests {
  typealias Samples = MultiScanSamples

  private func capture(lines: String, frames: Int) throws -> Capture {
    let folder = try Samples.lidar(frames: frames)
    try folder.write("\(Samples.stem).jsonl", lines)
    return try folder.open()
  }

  @Test(
    "Both line ends, blank lines, NUL bytes at the end and a last line without end are read alike")
  func lineEnds() throws {
    let lines = (0..<3).map { Samples.line($0) }
    let expected = try capture(lines: Samples.lines(3), frames: 3)
    for text in [
      lines.joined(separator: "\r\n"), lines.joined(separator: "\n\n \t\r\n"),
      "\n" + lines.joined(separator: "\n") + "\n\n",
      "\u{FEFF}\n" + lines.joined(separator: "\n") + "\n" + String(repeating: "\0", count: 99),
    ] {
      let found = try capture(lines: text, frames: 3)
      #expect(found.frames == expected.frames)
      #expect(found.poses.value?.rows == expected.poses.value?.rows)
      #expect(found.totals().isEmpty)
    }
  }

  @Test("Times are integers of 64 bits, exact beyond what a double holds")
  func exactTimes() throws {
    let times: [Int64] = [9_007_199_254_740_993, 9_007_199_271_407_660, 9_007_199_288_074_327]
    let text = times.enumerated().map { Samples.line($0.offset, nanoseconds: $0.element) }
    let capture = try capture(lines: text.joined(separator: "\n"), frames: 3)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == times)
  }

  @Test(
    "A time in quotes or with a fraction is one; of what is no time it is said",
    arguments: [
      (#""1016666667""#, 1_016_666_667), ("1016666667.5", 1_016_666_668),
      ("1.016666667e9", 1_016_666_667), ("null", nil), (#""soon""#, nil), ("[1]", nil),
    ] as [(String, Int64?)])
  func otherTimes(text: String, nanoseconds: Int64?) throws {
    let odd = Samples.line(1).replacing("1016666667", with: text)
    let lines = [Samples.line(0), odd, Samples.line(2)].joined(separator: "\n")
    let capture = try capture(lines: lines, frames: 3)
    #expect(capture.frames[1].timestamp?.nanoseconds == nanoseconds)
    #expect(capture.total(.missingKey, "frames") == (nanoseconds == nil ? 1 : 0))
    #expect(capture.poses.value?.rows.count == 3)
  }

  @Test("A transform that is not finite costs its own row alone", arguments: ["NaN", "-Infinity"])
  func notFinite(word: String) throws {
    let odd = Samples.line(1).replacing("0.01,0,0,1]", with: "\(word),0,0,1]")
    let lines = [Samples.line(0), odd, Samples.line(2)].joined(separator: "\n")
    let capture = try capture(lines: lines, frames: 3)
    #expect(capture.frames.allSatisfy { $0.timestamp != nil })
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 2])
    #expect(capture.intrinsics.value?.map(\.frame) == [0, 1, 2])
    #expect(capture.totals() == [.corruptRecord: 1])
  }

  @Test(
    "A line that is no JSON object, or has no key of a line, keeps its frame, without pose, time and intrinsics",
    arguments: [
      "{}", #"{"a":1}"#, "{", "null", "[]", "7", "{\"timestamp\":}", "\"text\"", "\u{0}",
      String(repeating: "[", count: 20_000), "{\"a\":1}}",
    ])
  func brokenLine(_ broken: String) throws {
    let text = [Samples.line(0), broken, Samples.line(2)].joined(separator: "\n")
    let capture = try capture(lines: text, frames: 3)
    #expect(capture.frames.count == 3)
    #expect(capture.frames[1] == CaptureFrame())
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 2])
    #expect(capture.intrinsics.value?.map(\.frame) == [0, 2])
    #expect(capture.cameraSettings.value?.rows.map(\.frame) == [0, 2])
    #expect(capture.totals() == [.corruptRecord: 1])
  }

  @Test("Lines cut anywhere keep those before the cut")
  func cut() throws {
    let folder = try Samples.lidar(frames: 3)
    let text = Array(Samples.lines(3).utf8)
    let whole = try folder.open()
    let lineBytes = text.split(separator: 10).map(\.count)
    for end in 0..<text.count {
      try folder.write("\(Samples.stem).jsonl", text[..<end])
      let capture = try folder.open()
      // A line is whole with its closing brace; the line end may be missing.
      var start = 0
      var lines = 0
      for count in lineBytes where end >= start + count {
        lines += 1
        start += count + 1
      }
      // An empty file counts as absent.
      #expect(
        (capture.poses.value?.rows ?? []) == Array((whole.poses.value?.rows ?? [])[..<lines]))
      #expect(capture.frames.count == 3)
      let hasCutLine = lines < 3 && end > start
      #expect(capture.total(.corruptRecord, "poses") == (hasCutLine ? 1 : 0))
    }
  }

  @Test("A line that lacks a key keeps what it has")
  func missingKeys() throws {
    let text = [
      #"{"timestamp":5000000000}"#,
      #"{"transform":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}"#,
      #"{"timestamp":5016666667,"transform":[1,2,3],"intrinsics":[1,2]}"#,
    ].joined(separator: "\n")
    let capture = try capture(lines: text, frames: 3)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == [5_000_000_000, nil, 5_016_666_667])
    #expect(capture.poses.value?.rows.map(\.frame) == [1])
    #expect(capture.total(.missingKey, "poses") == 1)
    #expect(capture.total(.missingKey, "frames") == 1)
    #expect(capture.total(.missingKey, "intrinsics") == 3)
    #expect(capture.total(.corruptRecord, "poses") == 1)
  }

  @Test("The matrix is divided by its element 15 and turned to OpenCV axes")
  func transform() throws {
    let line =
      #"{"timestamp":1,"transform":[0,2,0,0,-2,0,0,0,0,0,2,0,2,4,6,2],"#
      + #""quaternion":[0,1,0,0]}"#
    let row = try #require(try capture(lines: line, frames: 1).poses.value?.rows.first)
    #expect(row.pose.position == [1, 2, 3])
    // Rz(90°) · diag(1, -1, -1): the camera looks along -z of the world, its x axis along world y.
    let expected = Quaternion(rotation: [0, 1, 0, 1, 0, 0, 0, 0, -1])
    #expect(abs(row.pose.orientation.x - expected.x) < 1e-12)
    #expect(abs(row.pose.orientation.y - expected.y) < 1e-12)
    #expect(abs(row.pose.orientation.z - expected.z) < 1e-12)
  }

  @Test("Gaps, steps back and equal times are counted between neighbors")
  func steps() throws {
    let times: [Int64] = [100, 200, 300, 460, 440, 440, 540, 640, 790, 890]
    let text = times.enumerated().map {
      Samples.line($0.offset, nanoseconds: $0.element * 1_000_000)
    }
    let capture = try capture(lines: text.joined(separator: "\n"), frames: times.count)
    #expect(capture.frames.map { ($0.timestamp?.nanoseconds ?? 0) / 1_000_000 } == times)
    // Median 100 ms; 150 ms is not above 1.5 times that, 160 ms is.
    #expect(
      capture.totals() == [.frameGap: 1, .timestampsUnordered: 1, .timestampsDuplicate: 1])
  }

  @Test("A broken line is no gap")
  func brokenLineIsNoGap() throws {
    var lines = (0..<6).map { Samples.line($0) }
    lines[3] = "broken"
    let capture = try capture(lines: lines.joined(separator: "\n"), frames: 6)
    #expect(capture.total(.frameGap) == 0)
  }

  @Test("Between equal times a move is a jump, and to stay is none")
  func equalTimes() {
    let rows = [0, 0, 0.01].map { x in
      PoseStream.Row(
        frame: 0,
        pose: Pose(position: [x, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1)))
    }
    let time = Timestamp(nanoseconds: 5)
    #expect(PoseBreak.countJumps(rows: rows, times: [time, time, time]) == 1)
  }

  @Test("Steps faster than 10 m/s are jumps", arguments: [(0.16, 0), (0.17, 1), (5, 1)])
  func jumps(meters: Double, count: Int) throws {
    let lines = (0..<4).map { Samples.line($0, meters: $0 < 2 ? 0 : meters) }
    let capture = try capture(lines: lines.joined(separator: "\n"), frames: 4)
    #expect(capture.totals() == (count == 0 ? [:] : [.poseJump: count]))
  }

  @Test("Exposure 0 is unknown")
  func exposure() throws {
    let line = Samples.line(0).replacing("8000000}", with: "0}")
    let rows = try capture(lines: line + "\n" + Samples.line(1), frames: 2).cameraSettings.value?
      .rows
    #expect(rows?.map(\.exposureSeconds) == [nil, 0.008])
  }

  @Test("Without lines the metadata's intrinsics hold for every frame; times stay unknown")
  func withoutLines() throws {
    let folder = try Samples.lidar(frames: 2)
    try folder.remove("\(Samples.stem).jsonl")
    let color = Samples.stream(
      "color_camera", "mp4", frames: 2,
      #""resolution":[1440,1920],"intrinsics":[1600,0,0,0,1601,0,950,720,1]"#)
    try folder.write(
      "\(Samples.stem).json", Samples.metadata(Samples.lidarStreams(frames: 2) + [color]))
    let capture = try folder.open()
    let row = IntrinsicsRow(
      frame: 1, width: 1920, height: 1440, fx: 1600, fy: 1601, cx: 950, cy: 720)
    #expect(capture.intrinsics.value?.count == 2)
    #expect(capture.intrinsics.value?.last == row)
    #expect(capture.frames == [CaptureFrame(), CaptureFrame()])
    #expect(capture.alignment?.colorIntrinsics?.fx == 1600)
    #expect(capture.totals() == [.missingFile: 2])
    #expect(capture.total(.missingFile, "poses") == 1)
    #expect(capture.total(.missingFile, "color") == 1)
  }
}
