@testable import Captures
import SystemPackage
import TestSupport
import Testing

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
