import StageSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("Frames of an export")
struct ExportFramesTests {
  @Test("Every canonical frame is counted once, under the first reason that applies")
  func reasons() throws {
    var capture = GridCapture(frames: 8)
    // Each lacks what the one before lacks, but for the first.
    for frame in 0..<4 { capture.cameras[frame] = nil }
    for frame in 0..<3 { capture.poses[frame] = nil }
    for frame in 0..<2 { capture.depths[frame] = nil }
    capture.colors[0] = nil
    let export = try capture.export(ExportNerfstudio.self, ["last": "6"])
    #expect(try export.frames == [4, 5, 6])
    let account = try export.account
    #expect(
      account.leftOut
        == ["no-picture": 1, "no-depth": 1, "no-pose": 1, "no-intrinsics": 1, "not-selected": 1])
    #expect(account.total == 8)
  }

  @Test(
    "A selection gives the same frames in every format and for any number of cores",
    arguments: [
      (["every": "3"], [0, 3, 6, 9, 12, 15]), (["first": "4", "last": "6"], [4, 5, 6]),
      (["every": "5", "first": "1"], [5, 10, 15]), (["last": "2"], [0, 1, 2]),
      (["count": "3", "pick": "even"], [2, 8, 13]),
      (["every": "2", "count": "2", "pick": "even"], [2, 12]),
      (["count": "4"], [1, 5, 10, 14]),
    ] as [([String: String], [Int])])
  func selection(settings: [String: String], expected: [Int]) throws {
    var capture = GridCapture(frames: 17)
    // Without the frame that no format can have: it is no part of the windows.
    capture.colors[7] = nil
    for kind in [ExportColmap.self, ExportNerfstudio.self, ExportOpen3D.self] as [any Stage.Type] {
      for cores in [1, 8] {
        let export = try capture.export(kind, settings, cores: cores)
        #expect(try export.frames == expected, "\(kind.name)")
        #expect(try export.account.total == 17)
      }
    }
  }

  @Test("Formats that are not keyed by time do not mind unknown, equal or falling ones")
  func times() throws {
    var capture = GridCapture(frames: 4)
    let times: [Int64?] = [nil, 500, 500, 100]
    capture.frames = times.map { time in
      CaptureFrame(timestamp: time.map { Timestamp(nanoseconds: $0) })
    }
    let export = try capture.export(ExportColmap.self)
    #expect(try export.frames == [0, 1, 2, 3])
    #expect(
      try export.text("frames.csv") == """
        frame,timestamp_ns,name
        0,,images/000000.png
        1,500,images/000001.png
        2,500,images/000002.png
        3,100,images/000003.png

        """)
  }

  @Test("A selection that leaves nothing says what there was")
  func nothing() throws {
    var capture = GridCapture(frames: 5)
    capture.poses[0] = nil
    let thrown = #expect(throws: StageDoesNotApply.self) {
      try capture.export(ExportColmap.self, ["first": "9"])
    }
    #expect(thrown?.description.hasPrefix("no frame is left: 1 no-pose, 4 not-selected; ") == true)
    #expect(thrown?.description.hasSuffix(".first is 9") == true)
    #expect(thrown?.warnings.map(\.code) == [.nothingLeft])
    #expect(thrown?.warnings.map(\.count) == [4])
  }

  @Test("Poses that jump are exported as recorded, and the README says so")
  func poseJump() throws {
    let small = GridCapture()
    var capture = small.capture
    capture.warnings = [CaptureWarning(.poseJump, "poses", "12 m between frames 1 and 2")]
    let export = try small.export(ExportColmap.self, of: capture)
    #expect(try export.frames == [0, 1, 2])
    #expect(try export.text("README.txt").contains("12 m between frames 1 and 2"))
  }
}

@Suite("Picking frames")
struct FramePickingTests {
  /// Ten frames of rising sharpness in pairs: 1 1 3 3 5 5 … pixels differ.
  private func capture(sharpness: [UInt8]) -> GridCapture {
    var capture = GridCapture(frames: sharpness.count)
    for (frame, value) in sharpness.enumerated() {
      guard var picture = capture.colors[frame] else { continue }
      // One bright pixel in the middle: the brighter, the larger the variance of the Laplacian.
      let pixel = 6 * GridCapture.width + 8
      picture.rgb = picture.rgb.map { _ in 0 }
      for channel in 0..<3 { picture.rgb[3 * pixel + channel] = value }
      capture.colors[frame] = picture
    }
    return capture
  }

  @Test(
    "sharpest takes the sharpest of each window, the earliest on a tie; even its middle",
    arguments: [
      ("sharpest", "2", [1, 2, 9, 3, 9, 0, 0, 0, 0, 0], [2, 5]),
      ("sharpest", "3", [5, 5, 5, 1, 2, 2, 7, 7, 8, 8], [0, 4, 8]),
      ("even", "3", [5, 5, 5, 1, 2, 2, 7, 7, 8, 8], [1, 4, 7]),
      ("sharpest", "3", [1, 2, 3], [0, 1, 2]),
      ("sharpest", "99", [1, 2, 3], [0, 1, 2]), ("even", "99", [1, 2, 3], [0, 1, 2]),
      ("sharpest", "1", [0, 0, 0], [0]),
    ] as [(String, String, [UInt8], [Int])])
  func pick(how: String, count: String, sharpness: [UInt8], expected: [Int]) throws {
    let export = try capture(sharpness: sharpness.map { 20 * $0 }).export(
      ExportColmap.self, ["count": count, "pick": how])
    #expect(try export.frames == expected)
    let account = try export.account
    #expect(account.leftOut["not-selected", default: 0] == sharpness.count - expected.count)
  }
}

@Suite("EXIF of exported pictures")
struct FrameEXIFTests {
  @Test(
    "The time of day is the same on every clock that the export has", arguments: ["device", "unix"])
  func clocks(clock: String) throws {
    var capture = GridCapture(frames: 1).capture
    capture.recordedAt = "2012-08-07T15:11:00Z"
    capture.clock = CaptureClock(.recordingStart, unit: "s")
    capture.frames = [CaptureFrame(timestamp: Timestamp(nanoseconds: 2_000_000_000))]
    let output = try GridCapture(frames: 1).export(
      ExportTUM.self,
      ["pictures": "jpeg", "quality": "80", "exif": "camera", "clock": clock], of: capture)
    let file = try output.bytes("rgb/" + #require(output.files("rgb").first))
    let time = Array("2012:08:07 15:11:02\0".utf8)
    #expect(file.indices.contains { file[$0...].starts(with: time) })
  }

  @Test("Files that are no JPEG stay those of color/")
  func others() throws {
    let grid = GridCapture(frames: 1)
    let plain = try grid.export(ExportTUM.self)
    let tagged = try grid.export(ExportTUM.self, ["exif": "place"])
    let name = try #require(plain.files("rgb").first)
    #expect(try plain.bytes("rgb/\(name)") == tagged.bytes("rgb/\(name)"))
  }
}

@Suite("Parts of a data set")
struct FrameSplitTests {
  private static let usual = "train=80,val=10,test=10"

  @Test("Shares hold over many captures, and a capture stays where it is")
  func manyCaptures() throws {
    let split = try #require(FrameSplit("capture", shares: Self.usual))
    var counts: [String: Int] = [:]
    for number in 0..<2_000 {
      let capture = FrameSplit.OfCapture(
        split: split, key: "capture \(number)", firstNanoseconds: nil)
      let part = try #require(capture.part(ofFrame: 0, at: nil))
      #expect(capture.part(ofFrame: number, at: 5) == part)
      counts[part, default: 0] += 1
    }
    #expect(abs(counts["train", default: 0] - 1_600) < 80)
    #expect(abs(counts["val", default: 0] - 200) < 60 && abs(counts["test", default: 0] - 200) < 60)
  }

  @Test("Frames of different parts of one capture are at least a margin apart")
  func blocks() throws {
    let split = try #require(FrameSplit("blocks:10s", shares: "a=1,b=1"))
    let capture = FrameSplit.OfCapture(split: split, key: "c", firstNanoseconds: 7)
    let frames = (0..<6_000).map { frame -> (time: Int64, part: String?) in
      let time = 7 + Int64(frame) * 33_333_333
      return (time, capture.part(ofFrame: frame, at: time))
    }
    var last: (time: Int64, part: String)?
    for (time, part) in frames {
      guard let part else { continue }
      if let last, last.part != part { #expect(time - last.time >= 2_000_000_000) }
      last = (time, part)
    }
    #expect(Set(frames.compactMap(\.part)) == ["a", "b"])
    #expect(frames.count { $0.part == nil } < 1_300)
    #expect(capture.part(ofFrame: 0, at: Int64.min) == nil)
  }

  @Test(
    "Texts that mean the same are one value: nothing is made again",
    arguments: [
      ("split", "every:04", "every:4"), ("split", " every : 4", "every:4"),
      ("split", "blocks:2000ms", "blocks:2s"),
      ("shares", "train=80.0, val=20", "train=80,val=20"), ("segment", "07", "7"),
    ])
  func spelling(name: String, text: String, spelling: String) throws {
    let parameter = try #require(ExportColmap.parameters.first { $0.name == name })
    #expect(try parameter.value(from: text) == parameter.value(from: spelling))
    #expect(try parameter.value(from: text).text == spelling)
  }

  @Test(
    "What is no split is none",
    arguments: [
      ("", usual), ("capture:3", usual), ("every", usual), ("every:0", usual),
      ("blocks:0s", usual), ("blocks:x", usual), ("capture", ""), ("capture", "a"),
      ("capture", "a=1,a=2"), ("capture", "a/b=1"), ("capture", "a=-1"), ("every:3", "a=1"),
    ])
  func refused(way: String, shares: String) {
    #expect(FrameSplit(way, shares: shares) == nil)
  }
}
