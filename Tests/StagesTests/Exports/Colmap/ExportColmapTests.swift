import StageSupport
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Stages

@Suite("COLMAP models")
struct ExportColmapTests {
  private static let tables = ["cameras", "images", "points3D"]

  @Test("Pictures for tests stand in a list beside the model, for trainers that look for it")
  func parts() throws {
    let capture = GridCapture(frames: 5)
    let export = try capture.export(ExportColmap.self, ["split": "every:4"])
    #expect(try export.text("sparse/0/test.txt") == "000000.png\n000004.png\n")
    #expect(try !capture.export(ExportColmap.self).output.names.contains("sparse/0/test.txt"))
  }

  @Test("The text is what COLMAP's format says, byte by byte")
  func text() throws {
    var capture = GridCapture()
    capture.cameras[2]?.fx = 11.125
    let export = try capture.export(ExportColmap.self)
    #expect(export.files("images") == ["000000.png", "000001.png", "000002.png"])
    #expect(
      try export.text("sparse/0/cameras.txt") == """
        1 PINHOLE 16 12 10 12 7.75 6
        2 PINHOLE 16 12 11.125 12 7.75 6

        """)
    #expect(
      try export.text("sparse/0/images.txt") == """
        1 1 0 0 0 0 -2 3 1 000000.png

        2 0.5 -0.5 -0.5 -0.5 -2 3 -1 1 000001.png

        3 1 0 0 0 -2 -2 3 2 000002.png


        """)
    // Pixels (0, 0), (8, 0), (0, 8), (8, 8) of the first frame, one meter ahead of (0, 2, -3).
    #expect(
      try export.text("sparse/0/points3D.txt") == """
        1 -0.725 1.5416666666666667 -2 0 20 30 0
        2 0.075 1.5416666666666667 -2 0 20 30 0
        3 -0.725 2.2083333333333335 -2 0 20 30 0
        4 0.075 2.2083333333333335 -2 0 20 30 0

        """)
    #expect(
      try export.text("frames.csv") == """
        frame,timestamp_ns,name
        0,0,images/000000.png
        1,100,images/000001.png
        2,200,images/000002.png

        """)
    let account = try export.account
    #expect((account.frames, account.points, account.leftOut) == (3, 4, [:]))
    #expect(try export.text("README.txt").contains("colmap image_undistorter"))
  }

  @Test("A database stands in for the script that makes one, and is the same every time")
  func database() throws {
    let capture = GridCapture()
    let export = try capture.export(ExportColmap.self, ["database": "true"])
    let bytes = try export.bytes("database.db")
    #expect(String(decoding: bytes.prefix(15), as: UTF8.self) == "SQLite format 3")
    // The version of the library that wrote it is no part of it; readers rely on the size in it all the same.
    #expect(Array(bytes[96..<100]) == [0, 46, 32, 152] && bytes[92..<96] == bytes[24..<28])
    #expect(!export.output.names.contains("database.py"))
    #expect(
      try capture.export(ExportColmap.self, ["database": "true"]).bytes("database.db") == bytes)
    let plain = try capture.export(ExportColmap.self)
    #expect(!plain.output.names.contains("database.db"))
    #expect(plain.output.artifact.record.parameters["database"] == nil)
  }

  @Test(
    "Only the asked forms are written; one model is the same whether alone or with the other",
    arguments: [("text", "txt"), ("binary", "bin")])
  func forms(model: String, ending: String) throws {
    let both = try GridCapture().export(ExportColmap.self)
    let one = try GridCapture().export(ExportColmap.self, ["model": model])
    #expect(one.files("sparse/0") == Self.tables.map { "\($0).\(ending)" })
    for table in Self.tables {
      let name = "sparse/0/\(table).\(ending)"
      #expect(try one.bytes(name) == both.bytes(name))
    }
  }

  @Test("One camera for all is the median; how far a frame is from it is said")
  func median() throws {
    var capture = GridCapture()
    capture.cameras[2]?.fx = 11.5
    capture.cameras[1]?.cx = 6.25
    let export = try capture.export(ExportColmap.self, ["intrinsics": "median"])
    #expect(try export.text("sparse/0/cameras.txt") == "1 PINHOLE 16 12 10 12 7.75 6\n")
    #expect(try export.account.intrinsicsDeviation == 1.5)
    #expect(try !export.text("sparse/0/images.txt").contains(" 2 000001.png"))
  }

  @Test("A known lens is written whole: OPENCV, or FULL_OPENCV where there are terms above p2")
  func lens() throws {
    var capture = GridCapture(frames: 1)
    capture.lens = LensDistortion(openCVOrder: [0.1, -0.2, 0.003, 0.004])
    #expect(
      try capture.export(ExportColmap.self).text("sparse/0/cameras.txt")
        == "1 OPENCV 16 12 10 12 7.75 6 0.1 -0.2 0.003 0.004\n")
    capture.lens.k3 = 0.5
    #expect(
      try capture.export(ExportColmap.self).text("sparse/0/cameras.txt")
        == "1 FULL_OPENCV 16 12 10 12 7.75 6 0.1 -0.2 0.003 0.004 0.5 0 0 0\n")
  }

  @Test("Without depth, or with points: 0, there are empty files that readers take")
  func withoutPoints() throws {
    for export in [
      try GridCapture().export(ExportColmap.self, hasDepth: false),
      try GridCapture().export(ExportColmap.self, ["points": "0"]),
    ] {
      #expect(try export.bytes("sparse/0/points3D.txt").isEmpty)
      #expect(try export.bytes("sparse/0/points3D.bin") == Array(repeating: 0, count: 8))
      #expect(try export.account.points == 0)
      #expect(try export.text("README.txt").contains("no start points"))
    }
  }

  @Test(
    "Frames without picture, pose or intrinsics go, each under its first reason; ids have no holes")
  func damage() throws {
    var capture = GridCapture(frames: 7)
    capture.colors[1] = nil
    capture.poses[1] = nil
    capture.poses[2] = nil
    capture.cameras[4] = nil
    capture.cameras[5]?.width = 99
    capture.depths[0] = nil
    let export = try capture.export(ExportColmap.self)
    #expect(try export.frames == [0, 3, 6])
    let account = try export.account
    #expect(account.leftOut == ["no-picture": 1, "no-pose": 1, "no-intrinsics": 2])
    #expect(account.total == 7)
    #expect(export.files("images") == ["000000.png", "000003.png", "000006.png"])
    let lines = try export.text("sparse/0/images.txt").split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 7)
    #expect(lines[2].hasPrefix("2 ") && lines[2].hasSuffix(" 1 000003.png"))
    // Depth is for start points alone: the first frame that has it gives them.
    #expect(account.points == 4)
  }

  @Test("Nothing to export is no export, and the reason says why")
  func nothing() throws {
    var capture = GridCapture()
    capture.poses = [nil, nil, nil]
    #expect(throws: StageDoesNotApply("no frame is left: 3 no-pose")) {
      try capture.export(ExportColmap.self)
    }
    #expect(throws: StageDoesNotApply("no frames: the capture has none")) {
      try GridCapture(frames: 0).export(ExportColmap.self)
    }
  }
}

@Suite("Pairs of pictures that show the same")
struct ViewPairsTests {
  /// Cameras in a row, 0.3 m apart, before a wall one meter away, of which each shows 1.6 m.
  private static func row(_ count: Int) -> GridCapture {
    var capture = GridCapture(frames: count)
    for frame in 0..<count {
      capture.poses[frame] = Pose(
        position: [0.3 * Double(frame), 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
      capture.depths[frame] = capture.depths[0]
    }
    return capture
  }

  private static func pairs(_ capture: GridCapture, _ count: Int, cores: Int = 2) throws -> [String]
  {
    try capture.export(ExportColmap.self, ["pairs": "\(count)"], cores: cores).text("pairs.txt")
      .lines.filter { !$0.isEmpty }.map(String.init)
  }

  private static func line(_ a: Int, _ b: Int) -> String { "00000\(a).png 00000\(b).png" }

  @Test("Those that share most come first, each pair once, whatever the number of cores")
  func nearest() throws {
    let capture = Self.row(6)
    let expected = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)].map(Self.line)
    #expect(try Self.pairs(capture, 1) == expected)
    #expect(try Self.pairs(capture, 1, cores: 1) == expected)
    // Five steps are 1.5 m of 1.6 m: less than a tenth is shared.
    let all = try Self.pairs(capture, 100)
    #expect(all.count == 14 && !all.contains(Self.line(0, 5)))
  }

  @Test(
    "What looks away, or at something before it, shares nothing; neither do frames without depth")
  func hidden() throws {
    var capture = Self.row(6)
    capture.depths[5] = nil
    capture.poses[1] = Pose(
      position: [0.3, 0, 0], orientation: Quaternion(x: 0, y: 1, z: 0, w: 0))
    let near = DepthImage(
      width: GridCapture.width, height: GridCapture.height,
      millimeters: Array(repeating: 500, count: GridCapture.width * GridCapture.height))
    capture.depths[2] = near
    let pairs = try Self.pairs(capture, 100)
    #expect(pairs == [Self.line(0, 3), Self.line(0, 4), Self.line(3, 4)])
  }

  @Test(
    "Unless they are asked for there are none, and none without any depth, which the README says")
  func unset() throws {
    let export = try Self.row(2).export(ExportColmap.self)
    #expect(!export.output.names.contains("pairs.txt"))
    #expect(export.output.artifact.record.parameters["pairs"] == nil)
    let chooser = ChooseFrames.values(
      of: ExportColmap.self, ParameterValues(defaultsOf: ExportColmap.parameters), color: nil)
    #expect(chooser.json["export.pairs"] == nil && chooser.json["export.every"] != nil)
    let flat = try Self.row(2).export(ExportColmap.self, ["pairs": "1"], hasDepth: false)
    #expect(!flat.output.names.contains("pairs.txt"))
    #expect(try flat.text("README.txt").contains("There is no pairs.txt"))
  }
}
