@testable import Captures
@testable import Core
@testable import Media
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A Stray Scanner capture in the making.
final class StrayScannerScratch: ScratchCapture {
  convenience init(copyOf name: String) throws {
    try self.init(copyOf: name, of: "stray-scanner")
  }

  /// Replaces a table's text.
  func edit(_ name: String, _ change: (inout [String]) -> Void) throws {
    var lines = try text(of: name).split(separator: "\n").map(String.init)
    change(&lines)
    try write(lines.map { $0 + "\n" }.joined(), to: name)
  }
}

@Suite("Stray Scanner: what goes wrong", .enabled(if: Fixtures.arePresent))
struct StrayScannerSituationTests {
  typealias Situation = ChangedCapture<StrayScannerScratch>

  /// On top of `frame-gap`, which the fixture `now` has.
  static let situations = [
    Situation("no video", ["missing-file color": 1]) { try $0.remove("rgb.mp4") },
    Situation(
      "no poses",
      ["missing-file poses": 1, "timestamps-missing frames": 10, "frame-gap frames": 0]
    ) { try $0.remove("odometry.csv") },
    Situation(
      "a header alone",
      ["missing-file poses": 1, "timestamps-missing frames": 10, "frame-gap frames": 0]
    ) { try $0.edit("odometry.csv") { $0 = Array($0.prefix(1)) } },
    Situation("no motion", ["imu-missing imu": 1]) { try $0.remove("imu.csv") },
    Situation("motion without rows", ["imu-missing imu": 1]) {
      try $0.edit("imu.csv") { $0 = Array($0.prefix(1)) }
    },
    Situation("an empty motion file", ["imu-missing imu": 1]) { try $0.write("", to: "imu.csv") },
    Situation("no depth", ["missing-file depth": 1]) { try $0.remove("depth") },
    Situation("no confidence", ["missing-file confidence": 1]) { try $0.remove("confidence") },
    Situation("an empty folder of confidence", ["missing-file confidence": 1]) {
      try $0.remove("confidence")
      try $0.write("", to: "confidence/notes.txt")
    },
    Situation("no matrix, which rows replace", [:]) { try $0.remove("camera_matrix.csv") },
    Situation("no matrix in an old capture", ["calibration-missing color": 1], of: "legacy") {
      try $0.remove("camera_matrix.csv")
    },
    Situation("a cut matrix in an old capture", ["calibration-missing color": 1], of: "legacy") {
      try $0.write("224.1, 0.0, 158.6\n0.0, 22", to: "camera_matrix.csv")
    },
    Situation("a matrix with semicolons in an old capture", [:], of: "legacy") {
      try $0.write(
        try $0.text(of: "camera_matrix.csv").replacing(",", with: ";"), to: "camera_matrix.csv")
    },
    Situation("hidden and foreign files", [:]) {
      for name in ["._000000.png", "Thumbs.db", ".DS_Store", "1.png", "a00000.png"] {
        try $0.write("x", to: "depth/" + name)
        try $0.write("x", to: "confidence/" + name)
      }
      try $0.write("x", to: "distortion/000000.bin")
    },
    Situation("numbers of frames as decimals", [:]) {
      try $0.edit("odometry.csv") { lines in
        for row in lines.indices.dropFirst() {
          var cells = lines[row].split(separator: ",", omittingEmptySubsequences: false)
          cells[1] = " \(row - 1).0"
          lines[row] = cells.joined(separator: ",")
        }
      }
    },
    Situation(
      "a number that is not believed", ["corrupt-record depth": 1]
    ) { try $0.write("x", to: "depth/16777216.png") },
    Situation(
      "a number far above the others", ["corrupt-record depth": 2]
    ) {
      try $0.write("x", to: "depth/001065.png")
      try $0.write("x", to: "depth/99999999999999999999999.png")
    },
    Situation(
      "a frame of pictures only",
      [
        "frame-count-mismatch depth": 1, "color-shorter-than-depth color": 1,
        "timestamps-missing frames": 1, "empty-record depth": 1,
      ]
    ) { try $0.write("", to: "depth/000012.png") },
    Situation(
      "a row without number",
      [
        "corrupt-record poses": 1, "frame-count-mismatch color": 1,
        "frame-count-mismatch depth": 1, "frame-count-mismatch confidence": 1,
        "timestamps-missing frames": 1,
      ]
    ) { try $0.edit("odometry.csv") { $0[10] = $0[10].replacing("000009", with: " ") } },
    Situation("a frame twice", ["timestamps-duplicate frames": 1]) {
      try $0.edit("odometry.csv") { $0.append($0[4]) }
    },
    Situation("rows in any order", [:]) {
      try $0.edit("odometry.csv") { $0 = [$0[0]] + $0.dropFirst().reversed() }
    },
    Situation("an unknown column", ["unknown-key imu": 1]) {
      try $0.edit("imu.csv") { $0 = [$0[0] + ", b"] + $0.dropFirst().map { $0 + ", 1" } }
    },
    Situation("a capture of another family in the folder", ["multiple-streams folder": 1]) {
      try $0.write("x", to: "rgbd/0.depth")
    },
    Situation("a confidence picture of color", ["corrupt-record confidence": 1]) {
      try $0.write(try $0.bytes(of: "depth/000000.png"), to: "confidence/000003.png")
    },
  ]

  @Test(
    "What else a folder is comes with its recognition; without it the folder is looked at again")
  func surroundings() throws {
    let scratch = try StrayScannerScratch(copyOf: "now")
    try scratch.write("x", to: "rgbd/0.depth")
    let registry = CaptureRegistry.builtIn
    let alone = try #require(CaptureFinder(registry).find(scratch.folder).captures.first)
    #expect(alone.surroundings?.isOnlyCapture == true)
    let folders = registry.recognizeFolder(try FolderListing(of: scratch.folder))
    for (others, isOnly) in [([], true), ([alone], false)] {
      let first = try #require(CaptureRegistry.joined(folders, others).first)
      #expect(first.surroundings?.isOnlyCapture == isOnly)
    }
    var carried = try JSONDecoder().decode(Recognition.self, from: JSONEncoder().encode(alone))
    #expect(carried == alone)
    try scratch.remove("rgbd")
    func told() throws -> Int? { try registry.open(carried).total(.multipleStreams, "folder") }
    #expect(try told() == 1)
    carried.surroundings = nil
    #expect(try told() ?? 0 == 0 && carried == alone)
  }

  @Test("Each situation has its codes and no other", arguments: situations)
  func codes(of situation: Situation) throws {
    let scratch = try StrayScannerScratch(copyOf: situation.copyOf ?? "now")
    try situation.change(scratch)
    var expected = situation.told
    if situation.copyOf == nil {
      expected["frame-gap frames"] = expected["frame-gap frames"] ?? 3
    } else {
      expected["untracked-poses poses"] = 3
    }
    #expect(try scratch.open().allCounts() == expected.filter { $0.value > 0 })
  }

  @Test("Without a mandatory column what needs the table fails, with file and column")
  func columns() throws {
    let scratch = try StrayScannerScratch(copyOf: "now")
    try scratch.edit("odometry.csv") { $0[0] = $0[0].replacing("qy", with: "q2") }
    try scratch.edit("imu.csv") { $0[0] = $0[0].replacing("a_x", with: "ax") }
    let capture = try StrayScannerReader.open(scratch.recognition(as: .strayScanner))
    #expect(capture.framesProblem?.problem.contains("`qy`") == true)
    #expect(capture.poses.error?.file.lastComponent?.string == "odometry.csv")
    #expect(capture.imu.error?.problem.contains("`a_x`") == true)
    #expect(capture.depth.value?.description.frames == 10)
    #expect(capture.warnings.isEmpty)
  }

  @Test("As many pictures as rows are doubtful where depth has more frames and nothing counts")
  func equalCounts() throws {
    let copy = try StrayScannerScratch(copyOf: "copy")
    try copy.edit("odometry.csv") { $0.removeLast() }
    let npy = try StrayScannerScratch(copyOf: "npy")
    try npy.write(try npy.bytes(of: "depth/000003.npy"), to: "depth/000004.npy")
    for scratch in [copy, npy] {
      let warning = try scratch.open().warnings.first { $0.code == .pairingApproximate }
      #expect(warning?.message.contains("may be shifted by up to 1 frame") == true)
    }
  }

  @Test("Depth of another aspect than the pictures is told")
  func aspect() throws {
    let scratch = try StrayScannerScratch(copyOf: "npy")
    func told() throws -> CaptureWarning? {
      try scratch.open().warnings.first { $0.code == .sizeMismatch }
    }
    #expect(try told() == nil)
    for frame in 0..<4 {
      let name = "depth/00000\(frame).npy"
      let bytes = try scratch.bytes(of: name)
      let (shape, turned) = (Array("(48, 64)".utf8), Array("(64, 48)".utf8))
      try scratch.write(bytes.replacing(shape, with: turned, maxReplacements: 1), to: name)
    }
    let warning = try #require(try told())
    #expect(warning.subject == "alignment" && warning.message.contains("48x64"))
  }

  @Test("Confidence of another size than depth, and of another scale, is told and kept")
  func confidence() throws {
    let scratch = try StrayScannerScratch(copyOf: "now")
    let before = try #require(try scratch.open().confidence.value)
    var png = PNGWriter(compression: .fast)
    let (width, height) = (2 * before.width, 2 * before.height)
    for frame in 0..<10 {
      let values = (0..<width * height).map { UInt8($0 % 3) * (frame < 4 ? 1 : 127) }
      try scratch.write(
        try png.encode(GrayImage(width: width, height: height, values: values)),
        to: "confidence/00000\(frame).png")
    }
    let capture = try scratch.open()
    #expect(
      try capture.allCounts()
        == ["frame-gap frames": 3, "size-mismatch confidence": 1, "implausible-unit confidence": 6])
    let pictures = try #require(capture.confidence.value).pictures()
    #expect(pictures[0]?.max() == 2 && pictures[9]?.max() == 254)
  }

  @Test("A row without focal lengths has those of the camera matrix")
  func fallback() throws {
    let scratch = try StrayScannerScratch(copyOf: "now")
    try scratch.edit("odometry.csv") {
      $0[2] = $0[2].replacing(" 224.25244, 224.25244,", with: " , 0,")
    }
    let rows = try #require(try scratch.open().intrinsics.value)
    #expect(rows.count == 10)
    #expect(rows[1].fx == 224.12364 && rows[1].cx == 158.59)
    #expect(rows[0].fx == 224.0)
  }

  @Test("The PNG of a frame counts where there is an array, too")
  func both() throws {
    let scratch = try StrayScannerScratch(copyOf: "npy")
    let other = try StrayScannerScratch(copyOf: "now")
    try scratch.write(try other.bytes(of: "depth/000002.png"), to: "depth/000001.png")
    let capture = try scratch.open()
    #expect(capture.generation == "npy")
    let depth = try #require(capture.depth.value)
    #expect(depth.description.frames == 4)
    let mixed = try depth.digests()
    let alone = try #require(try other.open().depth.value).digests()
    #expect(mixed[1] == alone[2] && mixed[0] != nil && mixed[3] != nil)
  }

  @Test("A speed above 10 m/s is a jump, the step out of an untracked start is none")
  func jumps() throws {
    let scratch = try StrayScannerScratch(copyOf: "legacy")
    try scratch.edit("odometry.csv") { lines in
      for row in 8...10 {
        var cells = lines[row].split(separator: ",").map(String.init)
        cells[2] = " 500.0"
        lines[row] = cells.joined(separator: ",")
      }
    }
    #expect(
      try scratch.open().allCounts() == ["untracked-poses poses": 3, "pose-jump poses": 1])
  }

  @Test(
    "Color and frames depend on the files of depth that tell which frames the pictures have",
    arguments: [
      ("per-frame-intrinsics", nil, 0), ("png", nil, 1), ("npy", nil, 1),
      ("per-frame-intrinsics", 4, 10),
    ] as [(String, Int?, Int)])
  func parts(generation: String, lostRow: Int?, depth: Int) throws {
    let made = MadeCapture(family: "stray-scanner", generation: generation)
    let scratch = try ScratchCapture(copyOf: try made.folder())
    if let lostRow {
      var rows = try scratch.text(of: "odometry.csv").split(separator: "\n")
      rows.remove(at: lostRow + 1)
      try scratch.write(rows.joined(separator: "\n") + "\n", to: "odometry.csv")
    }
    let files = try scratch.open().files
    for part in [CapturePart.color, .frames] {
      #expect(files[part]?.count { $0.string.contains("/depth/") } == depth, "\(part)")
    }
  }
}
