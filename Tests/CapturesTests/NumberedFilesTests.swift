@testable import Captures
@testable import Core
import Foundation
import FoundationEssentials
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Files whose names are frame numbers")
struct NumberedFilesTests {
  @Test("Order is by number, whatever the listing's")
  func order() {
    let files = NumberedFiles(
      ["1000000.png", "000010.png", "000009.png", "0000011.png"], endings: ["png"])
    #expect(files.files.map(\.number) == [9, 10, 11, 1_000_000])
    #expect(files.files.map(\.name).last == "1000000.png")
  }

  @Test(
    "Names that are no number are ignored",
    arguments: [
      "._000000.png", ".000000.png", "00000.png", "000000.jpg", "000000", "00000a.png",
      "-00001.png", "+00001.png", "000000.png.part", "000000 .png", "٠٠٠٠٠٠.png", "", ".png",
    ])
  func ignored(name: String) {
    #expect(NumberedFiles([name], endings: ["png"]).isEmpty)
  }

  @Test("Of two files of one number the earlier ending counts, then the shorter name")
  func twice() {
    let files = NumberedFiles(
      ["000001.npy", "0000001.png", "000001.PNG"], endings: ["png", "npy"])
    #expect(files.files == [.init(number: 1, name: "000001.PNG")])
  }

  @Test("A number that no Int holds is the greatest, and not believed")
  func bounded() {
    let files = NumberedFiles(
      ["000000.png", "99999999999999999999.png"], endings: ["png"])
    #expect(files.files.map(\.number) == [0, .max])
    let believed = files.believing(upTo: NumberedFiles.mostBelieved(records: 2))
    #expect(believed.files.map(\.number) == [0])
    #expect(believed.unbelieved.map(\.name) == ["99999999999999999999.png"])
  }

  @Test(
    "A number is believed up to a thousand and twice the records",
    arguments: [(0, 1000), (30, 1060), (10_000_000, 16_777_215), (.max, 16_777_215)])
  func limit(records: Int, most: Int) {
    #expect(NumberedFiles.mostBelieved(records: records) == most)
  }
}

@Suite("Files that a complete upload would have")
struct MissingFilesTests {
  /// Files of a family's capture by their endings, and how `missing` calls them; `nil`: no part of a
  /// complete upload. `NAME` stands for the file's own name.
  typealias Row = (family: String, generation: String?, files: [(file: String, name: String?)])

  private static let rows: [Row] = [
    ("scannet", nil, [".txt", ".h264", ".imu", ".camera"].map { ($0, $0) }),
    (
      "arkit-scanner", "g6",
      ["rgb.mp4", "depth.bin", "trans.json", "metadata.json", "intri.json"].map { ($0, $0) }
        + [("imu.json", nil), ("exif.json", nil)]
    ),
    ("arkit-scanner", "g1", [("video.mp4", "video.mp4")]),
    ("arkit-scanner", "scannetpp", [("depth.bin", "depth.bin")]),
    (
      "multiscan", "ios-lidar",
      [".json", ".jsonl", ".mp4", ".depth.zlib", ".confidence.zlib"].map { ($0, $0) }
    ),
    ("multiscan", "ios-dual", [("-secondary.mp4", "-secondary.mp4"), (".rot", ".rot")]),
    ("multiscan", "android-plain", [(".rot", ".rot"), (".atti", nil)]),
    ("vi-slam", nil, ["video.mp4", "imu_data.csv", "frame_metadata.csv"].map { ($0, $0) }),
    ("strabo", nil, [(".mov", "NAME"), (".png", nil)]),
  ]

  private func scratch(_ family: String, _ generation: String?) throws -> ScratchCapture {
    try ScratchCapture(
      copyOf: try MadeCapture(family: family, generation: generation, frames: 2).folder())
  }

  private func missing(in scratch: ScratchCapture) throws -> [String] {
    let capture = try scratch.open()
    #expect(capture.completeness.isWhole || !capture.completeness.missing.isEmpty)
    return capture.completeness.absentFiles
  }

  @Test("Each missing file is named, by its ending where files share a stem", arguments: rows)
  func named(_ row: Row) throws {
    let scratch = try scratch(row.family, row.generation)
    #expect(try missing(in: scratch).isEmpty)
    for (ending, expected) in row.files {
      let names = scratch.names
      let file = try #require(names.first { $0.hasSuffix(ending) }, "\(ending) of \(names)")
      try scratch.rename(file, to: "../aside")
      let name = expected == "NAME" ? file : expected
      #expect(try missing(in: scratch) == [name].compactMap(\.self), "\(file)")
      try scratch.rename("../aside", to: file)
    }
  }

  @Test("Names are in the order of the family's rule")
  func order() throws {
    let scratch = try scratch("scannet", nil)
    for ending in [".camera", ".imu", ".h264"] {
      try scratch.remove(try #require(scratch.names.first { $0.hasSuffix(ending) }))
    }
    #expect(try missing(in: scratch) == [".h264", ".imu", ".camera"])
  }
}

/// Every file of every generation of every family, once without content and once absent.
@Suite("A file of 0 bytes has the codes of an absent one and is missed like it")
struct EmptyFileTests {
  /// What is told of a capture: `CODE SUBJECT`, and `unreadable STREAM`. `nil`: it is not recognized or not opened.
  private struct Told {
    var codes: Set<String>
    var messages: [String]
    /// Names in `missing`, which need a person.
    var missing: [String]

    init?(_ folder: FilePath) throws {
      let found = CaptureFinder(.builtIn).find(folder).captures.first
      guard let found, let capture = try? CaptureRegistry.builtIn.open(found) else { return nil }
      codes = Set(capture.warnings.map { "\($0.code.rawValue) \($0.subject)" })
        .union(capture.errors.map { "unreadable \($0.stream)" })
      messages = capture.warnings.map(\.message)
      missing = capture.completeness.absentFiles
    }
  }

  /// A file with content of its own that says more when it is empty than when it is absent, and why.
  struct Exception: Sendable {
    var family: String
    var file: String
    /// Codes that the empty file has at least.
    var codes: Set<String>
  }

  private static let motion = [".rot", ".acce", ".mag", ".atti", ".grav"]
  static let exceptions =
    // Streams of pictures: stages that need them fail.
    [
      ("scannet", ".h264", ["unreadable color"]), ("scannet", ".depth", ["unreadable depth"]),
      ("arkit-scanner", ".mp4", ["unreadable color"]),
      ("arkit-scanner", ".mkv", ["unreadable color"]),
      ("arkit-scanner", "depth", ["unreadable depth"]),
      ("arkit-scanner", "depth.bin", ["unreadable depth"]),
      ("arkit-scanner", "depthBufferSequence", ["unreadable depth"]),
      ("arkit-scanner", "depthBufferSequence.bin", ["unreadable depth"]),
      ("multiscan", "made.mp4", ["unreadable color"]),
      ("multiscan", "-primary.mp4", ["unreadable color"]),
      ("vi-slam", ".mp4", ["unreadable color"]), ("strabo", ".mov", ["unreadable color"]),
      ("strabo", ".jpg", ["unreadable color"]),
      ("stray-scanner", ".mp4", ["unreadable color"]),
      // A second video is only told of, not read.
      ("multiscan", "-secondary.mp4", ["multiple-streams color"]),
      // They grow while the app records: an empty one is a cut one.
      ("multiscan", ".depth.zlib", ["truncated-stream depth"]),
      ("multiscan", ".confidence.zlib", ["truncated-stream confidence"]),
      ("arkit-scanner", "exif.json", ["truncated-stream exif"]),
      // By its name alone it is a released scene.
      (
        "arkit-scanner", "pose_intrinsic_imu.json",
        ["missing-file pose_intrinsic_imu.json", "imu-missing imu", "calibration-missing color"]
      ),
      // One file per frame.
      ("arkit-scanner", "_trans.xml", ["empty-record poses"]),
      ("arkit-scanner", "_imu.xml", ["empty-record imu"]),
      ("3d-scanner-app", "frame_00000.json", ["empty-record poses"]),
      ("polycam", "cameras/", ["empty-record poses"]),
      // Pictures, which are looked into when they are decoded: `empty-record` then.
      ("stray-scanner", ".png", []), ("stray-scanner", ".npy", []), ("vi-slam", "frames/", []),
      ("3d-scanner-app", "frame_00000.jpg", []), ("3d-scanner-app", "depth_00000.png", []),
      ("3d-scanner-app", "conf_00000.png", []), ("record3d", ".jpg", []),
      ("record3d", ".depth", []), ("record3d", ".exr", []), ("record3d", ".conf", []),
      ("polycam", "images/", []), ("polycam", "depth/", []), ("polycam", "confidence/", []),
    ].map { Exception(family: $0.0, file: $0.1, codes: Set($0.2)) }
    + motion.map {
      Exception(family: "multiscan", file: $0, codes: ["truncated-stream imu"])
    }

  static let made = SyntheticFamilies.names.flatMap(MadeCapture.generations)

  @Test(
    "Side files: as absent; streams: unreadable or cut; pictures: empty records", arguments: made)
  func empty(_ made: MadeCapture) throws {
    let whole = try made.folder()
    // A capture that is one file has no side files.
    guard FileSystem.isFolder(whole) else { return }
    let usual = try #require(try Told(whole)).codes
    let work = try TemporaryFolder()
    let kinds = try Self.kinds(of: whole)
    #expect(!kinds.isEmpty)
    for file in kinds {
      let copy = work.path.appending("copy")
      try whole.copy(to: copy)
      let path = copy.pushing(FilePath(file))
      try Data().write(to: URL(filePath: path.string))
      let empty = try Told(copy)
      try FileSystem.remove(path)
      let absent = try Told(copy)
      try FileSystem.remove(copy)
      let note: Comment =
        "\(made) \(file): \(empty?.codes.sorted() ?? []), absent \(absent?.codes.sorted() ?? [])"
      let exception = Self.exceptions.first { $0.family == made.family && Self.is(file, $0.file) }
      guard let exception else {
        #expect(empty?.codes == absent?.codes, note)
        #expect(empty?.missing == absent?.missing, note)
        // What is there, and not what one would look for in vain.
        let more = empty?.codes.subtracting(usual) ?? []
        if more.contains(where: { $0.hasPrefix("missing-file") || $0.hasPrefix("imu-missing") }) {
          let words = ["is empty", "has no rows"]
          let isSaid = empty?.messages.contains { message in words.contains { message.contains($0) }
          }
          #expect(isSaid == true, note)
        }
        continue
      }
      for code in exception.codes {
        #expect(empty?.codes.contains { $0.hasPrefix(code) } == true, note)
      }
    }
  }

  @Test(
    "A frame or camera file of 0 bytes is a lost pose",
    arguments: [("3d-scanner-app", "frame_00000.json"), ("polycam", "cameras/")])
  func lostPose(family: String, file: String) throws {
    let whole = try MadeCapture(family: family, generation: nil).folder()
    let work = try TemporaryFolder()
    let copy = work.path.appending("copy")
    try whole.copy(to: copy)
    let name = try #require(try Self.kinds(of: whole).first { Self.is($0, file) })
    try Data().write(to: URL(filePath: copy.pushing(FilePath(name)).string))
    let found = try #require(CaptureFinder(.builtIn).find(copy).captures.first)
    let lacking = try CaptureRegistry.builtIn.open(found).claims.lacking
    #expect(lacking.map(\.stream) == ["poses"])
    #expect(lacking.map { $0.declared - $0.held } == [1])
  }

  /// Whether a path in a capture is the file, ends so, or lies in the folder.
  private static func `is`(_ path: String, _ file: String) -> Bool {
    if file.hasSuffix("/") { return ("/" + path).contains("/" + file) }
    let isEnding = file.first?.isPunctuation ?? false
    return path == file || (isEnding && path.hasSuffix(file))
  }

  /// The files of a capture, of those that differ by numbers one.
  static func kinds(of folder: FilePath) throws -> [String] {
    var seen: Set<String> = []
    return try folder.filesBelow().filter {
      seen.insert(String($0.filter { !$0.isNumber })).inserted
    }
  }
}
