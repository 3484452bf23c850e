@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// An export of 3D Scanner App in the making.
final class ThreeDScannerAppScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "3d-scanner-app")

  static func open(_ fixture: FixtureCase) throws -> Capture {
    try open(try StrayScannerScratch.folder(of: fixture))
  }

  /// Opens a folder as whoever recognizes it.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
    guard let first = found.first, first.family == .threeDScannerApp else {
      throw StrayScannerScratch.NotRecognized()
    }
    return try CaptureRegistry.builtIn.open(first)
  }

  convenience init(copyOf name: String) throws {
    guard let fixture = Self.cases.first(where: { $0.name == name }) else {
      throw StrayScannerScratch.NotRecognized()
    }
    try self.init(copyOf: try StrayScannerScratch.folder(of: fixture))
  }

  func open() throws -> Capture { try Self.open(folder) }

  /// Replaces a part of a text file.
  func replace(_ old: String, _ new: String, in name: String) throws {
    try write(try text(of: name).replacing(old, with: new), to: name)
  }

  /// Which color pictures can be decoded, and issues by code.
  static func decode(_ color: ColorStream?) throws -> (frames: [Int], issues: [WarningCode: Int]) {
    guard let color, case .pictures(let pictures) = color.source else { return ([], [:]) }
    var frames: [Int] = []
    var issues: [WarningCode: Int] = [:]
    for index in 0..<pictures.count {
      let outcome = try pictures.decode(index)
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      if outcome.picture != nil { frames.append(color.frameOfPicture?[index] ?? index) }
      // The check agrees with decoding.
      let stored = try pictures.stored(index)
      if (stored.bytes == nil) != (outcome.picture == nil) { issues[.shortfall, default: 0] += 1 }
      if stored.issue?.code != outcome.issue?.code { issues[.shortfall, default: 0] += 1 }
    }
    return (frames, issues)
  }

  /// Warnings of opening and decoding as `code subject`, with counts.
  static func warnings(of capture: Capture) throws -> [String: Int] {
    var counts = try StrayScannerScratch.warnings(of: capture)
    for (code, count) in try decode(capture.color.value).issues {
      counts["\(code.rawValue) color", default: 0] += count
    }
    return counts
  }

  func warnings() throws -> [String: Int] { try Self.warnings(of: try open()) }
}

@Suite("3D Scanner App: recognition", .enabled(if: Fixtures.arePresent))
struct ThreeDScannerAppRecognitionTests {
  private static let frame = "{\n  \"time\" : 1.5,\n  \"cameraPoseARFrame\" : [\n    1,"

  private func recognize(_ files: [String: String]) throws -> [Recognition] {
    let scratch = try ScratchCapture(named: "2026_01_13_14_47_59")
    for (name, text) in files { try scratch.write(text, to: name) }
    return CaptureRegistry.builtIn.recognize(try FolderListing(of: scratch.folder))
  }

  @Test(
    "A frame file with a pose is certain, whatever lies beside it",
    arguments: [
      ["frame_00000.json": frame],
      ["frame_00007.json": "{\"cameraPoseARFrame\":[]}"],
      ["frame_000123.json": "\u{FEFF}" + frame],
      ["frame_00000.json": "", "frame_00001.json": "{", "frame_00002.json": frame],
      ["frame_00000.json": frame, "info.json": "{}", "frame_00000.jpg": "", "export.obj": ""],
      ["frame_00000.json": frame, "._frame_00000.json": "\0\u{5}\u{16}\u{7}", ".DS_Store": "\0"],
      ["frame_00000.json": frame, "Thumbs.db": "x", "__MACOSX/._frame_00000.json": "x"],
    ])
  func certain(files: [String: String]) throws {
    let found = try recognize(files)
    #expect(found.map(\.family) == [.threeDScannerApp])
    #expect(found.first?.certainty == .certain)
    #expect(found.first?.id == "2026_01_13_14_47_59")
  }

  @Test(
    "Depth and confidence side by side are possible",
    arguments: [
      ["depth_00000.png": "", "conf_00000.png": ""],
      ["depth_00004.png": "", "conf_00009.png": "", "frame_00000.json": "{\"time\" : 1}"],
    ])
  func possible(files: [String: String]) throws {
    let found = try recognize(files)
    #expect(found.map(\.family) == [.threeDScannerApp])
    #expect(found.first?.certainty == .possible)
  }

  @Test(
    "Nothing else is one",
    arguments: [
      [:], ["frame_00000.jpg": "", "thumb_00000.jpg": ""], ["depth_00000.png": ""],
      ["frame_00000.json": "{\"time\" : 1}"], ["frame_0.json": frame], ["frame_0000x.json": frame],
      ["frame_00000.json": "[\"cameraPoseARFrame\"]"],
      ["frame_00000.json": "{\"a\" : {\"cameraPoseARFrame\" : []}}"],
      ["._frame_00000.json": frame], ["__MACOSX/frame_00000.json": frame],
      ["depth_00000.txt": "", "conf_00000.png": ""],
    ])
  func none(files: [String: String]) throws {
    #expect(try recognize(files).filter { $0.family == .threeDScannerApp }.isEmpty)
  }

  @Test("No other family claims an export", arguments: ThreeDScannerAppScratch.cases.map(\.name))
  func alone(name: String) throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: name)
    let reversed = CaptureRegistry(Array(CaptureRegistry.builtIn.readers.reversed()))
    for registry in [CaptureRegistry.builtIn, reversed] {
      let found = registry.recognize(try FolderListing(of: scratch.folder))
      #expect(found.map(\.family) == [.threeDScannerApp])
    }
  }
}

/// A small file cut at every byte: opening and decoding come to an end, and nothing that is told is wrong.
@Suite("3D Scanner App: files that are cut", .enabled(if: Fixtures.arePresent))
struct ThreeDScannerAppTruncationTests {
  @Test("A cut depth picture is a hole")
  func depth() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    let bytes = try scratch.bytes(of: "depth_00003.png")
    let depth = try #require(try scratch.open().depth.value)
    guard case .indexed(let source) = depth.access else {
      Issue.record("other access than expected")
      return
    }
    var pixels: [UInt16] = []
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "depth_00003.png")
      let outcome = try source.decode(record: 3, into: &pixels)
      #expect(!outcome.hasPicture)
      #expect(outcome.issue?.code == (length == 0 ? .emptyRecord : .corruptRecord), "\(length)")
    }
  }

  @Test("A cut color picture is a hole, and is not copied either")
  func color() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    let bytes = try scratch.bytes(of: "frame_00003.jpg")
    let color = try #require(try scratch.open().color.value)
    guard case .pictures(let pictures) = color.source else {
      Issue.record("other access than expected")
      return
    }
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "frame_00003.jpg")
      let outcome = try pictures.decode(1)
      #expect(outcome.picture == nil, "\(length)")
      #expect(outcome.issue?.code == (length == 0 ? .emptyRecord : .corruptRecord), "\(length)")
      #expect(try pictures.stored(1).bytes == nil, "\(length)")
    }
  }
}
