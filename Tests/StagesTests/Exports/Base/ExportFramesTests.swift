@testable import Captures
@testable import Stages
@testable import Core
@testable import Engine
import Testing

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
