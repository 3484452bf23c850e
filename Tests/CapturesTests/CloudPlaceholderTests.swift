import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Captures

@Suite("Files that a cloud drive has not downloaded")
struct CloudPlaceholderTests {
  @Test(
    "Names of placeholders tell what they stand for",
    arguments: [
      (".rgb.mp4.icloud", "rgb.mp4"), ("rgb.mp4.nextcloud", "rgb.mp4"),
      ("rgb.mp4.owncloud", "rgb.mp4"), (".icloud", nil), ("rgb.mp4.icloud", nil),
      (".nextcloud", nil), (".owncloud", nil), ("rgb.mp4", nil), ("d", nil), ("", nil),
    ] as [(String, String?)])
  func names(name: String, target: String?) {
    #expect(CloudPlaceholder.target(of: name) == target)
  }

  @Test(
    "Of links, those that ntfs-3g shows for a file in a cloud",
    arguments: [
      ("unsupported reparse tag 0x9000701a", true), ("unsupported reparse tag 0x9000001a", true),
      ("unsupported reparse tag 0x80000021", true), ("unsupported reparse tag 0xa000000c", false),
      ("unsupported reparse tag 0x", false), ("rgb.mp4", false),
    ])
  func links(text: String, isOne: Bool) throws {
    let scratch = try ScratchCapture(named: "in")
    try scratch.link("a", to: FilePath(text))
    #expect(CloudPlaceholder.isUnread(link: scratch.folder.appending("a")) == isOne)
    #expect(!CloudPlaceholder.isUnread(link: scratch.folder.appending("b")), "nothing is there")
    #expect(!CloudPlaceholder.isUnread(link: scratch.folder), "a folder")
  }

  /// A file of a capture of each family that can be recognized without it, and what is told.
  struct Row: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String?
    var file: String
    var subject: String
    var testDescription: String { "\(family): \(file)" }
  }

  static let rows = [
    Row(family: "stray-scanner", file: "rgb.mp4", subject: "rgb.mp4"),
    Row(family: "stray-scanner", file: "depth/000003.png", subject: "depth"),
    Row(family: "arkit-scanner", generation: "g6", file: "rgb.mp4", subject: "rgb.mp4"),
    Row(family: "multiscan", generation: "ios-lidar", file: "made.mp4", subject: "made.mp4"),
    Row(family: "scannet", file: "made.h264", subject: "made.h264"),
    Row(family: "vi-slam", file: "frame_metadata.csv", subject: "frame_metadata.csv"),
    Row(family: "strabo", file: ".mov", subject: ".mov"),
    Row(family: "3d-scanner-app", file: "frame_00000.jpg", subject: "frame_00000.jpg"),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/depth/1.exr", subject: "depth"),
    Row(family: "polycam", file: "keyframes/images/.jpg", subject: "keyframes/images"),
  ]

  /// The first path in a folder that ends so.
  private static func path(_ ending: String, in folder: FilePath) throws -> String {
    try #require(
      (try? FileManager.default.subpathsOfDirectory(atPath: folder.string))?.sorted().first {
        $0 == ending
          || ending.contains("/.")
            && $0.hasPrefix(ending.split(separator: "/.").first.map(String.init) ?? "")
            && $0.hasSuffix(ending.split(separator: "/").last.map(String.init) ?? "")
          || ending.hasPrefix(".") && $0.hasSuffix(ending)
      }, "\(ending) in \(folder)")
  }

  @Test("Each family names them, and its upload is not complete", arguments: rows)
  func families(row: Row) throws {
    let made = try MadeCapture(family: row.family, generation: row.generation).folder()
    for form in ["icloud", "nextcloud", "link"] {
      let scratch = try ScratchCapture(copyOf: made)
      let name = try Self.path(row.file, in: scratch.folder)
      let path = FilePath(name)
      let file = try #require(path.lastComponent?.string)
      let around = path.removingLastComponent()
      func beside(_ name: String) -> String { around.appending(name).string }
      try scratch.remove(name)
      switch form {
      case "icloud": try scratch.write("bplist00", to: beside(".\(file).icloud"))
      case "nextcloud": try scratch.write(" ", to: beside("\(file).nextcloud"))
      default: try scratch.link(name, to: "unsupported reparse tag 0x9000701a")
      }
      let capture = try scratch.open()
      let subject = row.subject.hasPrefix(".") ? file : row.subject
      let told = capture.warnings.filter { $0.code == .notDownloaded }
      #expect(told.map(\.subject) == [subject] && told.map(\.count) == [1], "\(form)")
      #expect(told.first?.message.contains("was not downloaded") == true)
      #expect(told.first?.severity == .warning)
      #expect(!capture.completeness.isWhole)
      #expect(
        capture.completeness.missing.contains { $0.contains(file) && $0.contains("not downloaded") }
      )
    }
  }

  @Test(
    "The case of a public report", .needsReports)
  func report() throws {
    let capture = try Capture.report("stray-icloud-placeholders")
    let told = capture.warnings.filter { $0.code == .notDownloaded }
    #expect(told.map(\.subject) == ["depth", "rgb.mp4"] && told.map(\.count) == [1, 1])
    #expect(
      Set(capture.completeness.missing)
        == ["depth/000003.png was not downloaded.", "rgb.mp4 was not downloaded."])
  }

  @Test("A placeholder beside its file says nothing")
  func both() throws {
    let scratch = try ScratchCapture(
      copyOf: try MadeCapture(family: "stray-scanner", generation: nil).folder())
    try scratch.write("bplist00", to: ".rgb.mp4.icloud")
    let capture = try scratch.open()
    #expect(!capture.warnings.contains { $0.code == .notDownloaded })
    #expect(capture.completeness.isWhole)
  }

  @Test("Where nothing can be recognized without them, that is why")
  func unrecognized() throws {
    for name in [".a.r3d.icloud", ".odometry.csv.icloud", "trans.json.nextcloud"] {
      let scratch = try ScratchCapture(named: "in")
      try scratch.write("bplist00", to: name)
      let found = CaptureFinder(.builtIn).find(scratch.folder)
      #expect(found.declined?.contains("not downloaded") == true, "\(found.declined ?? "")")
      #expect(found.declined?.contains(name) == true)
      let above = CaptureFinder(.builtIn).find(scratch.outer)
      #expect(above.unrecognized.map(\.holds) == [[name]])
      let itself = CaptureFinder(.builtIn).find(scratch.folder.appending(name))
      #expect(itself.declined?.contains("not downloaded") == true)
    }
  }
}
