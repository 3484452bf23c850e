@testable import Captures
import Foundation
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// Every file of every generation of every family, once without content and once absent.
@Suite("A file of 0 bytes has the codes of an absent one, whatever the family")
struct EmptyFileTests {
  /// What is told of a capture: `CODE SUBJECT`, and `unreadable STREAM`. `nil`: it is not recognized or not opened.
  private struct Told {
    var codes: Set<String>
    var messages: [String]

    init?(_ folder: FilePath) throws {
      let found = CaptureFinder(.builtIn).find(folder).captures.first
      guard let found, let capture = try? CaptureRegistry.builtIn.open(found) else { return nil }
      codes = Set(capture.warnings.map { "\($0.code.rawValue) \($0.subject)" })
        .union(capture.errors.map { "unreadable \($0.stream)" })
      messages = capture.warnings.map(\.message)
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
    var seen: Set<String> = []
    for file in try Self.files(of: whole) {
      // One of each kind.
      guard seen.insert(String(file.filter { !$0.isNumber })).inserted else { continue }
      let copy = work.path.appending("copy")
      try FileManager.default.copyItem(atPath: whole.string, toPath: copy.string)
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
    #expect(!seen.isEmpty)
  }

  /// Whether a path in a capture is the file, ends so, or lies in the folder.
  private static func `is`(_ path: String, _ file: String) -> Bool {
    if file.hasSuffix("/") { return ("/" + path).contains("/" + file) }
    let isEnding = file.first?.isPunctuation ?? false
    return path == file || (isEnding && path.hasSuffix(file))
  }

  private static func files(of folder: FilePath) throws -> [String] {
    let names = FileManager.default.enumerator(atPath: folder.string)?.allObjects ?? []
    return names.compactMap { $0 as? String }
      .filter { !FileSystem.isFolder(folder.pushing(FilePath($0))) }.sorted()
  }
}
