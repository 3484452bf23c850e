@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import Testing

@Suite("Recognizing ScanNet captures")
struct ScanNetRecognitionTests {
  /// Writes `files` into a folder and tells what is recognized: stem → certain or possible.
  static func recognize(_ files: [String: String]) throws -> [String: Recognition.Certainty] {
    try ScanNetFolder.temporary { folder in
      for (name, text) in files {
        try Data(text.utf8).write(to: URL(filePath: folder.appending(name).string))
      }
      let found = ScanNetReader.recognize(try FolderListing(of: folder))
      #expect(found.allSatisfy { $0.id == $0.stem && $0.family == .scannet && !$0.reason.isEmpty })
      return Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.certainty) })
    }
  }

  @Test("Depth and a metadata file of this app are certain, depth and color or IMU possible")
  func certainty() throws {
    #expect(try Self.recognize(["a.depth": "", "a.txt": "depthWidth = 640"]) == ["a": .certain])
    #expect(
      try Self.recognize(["a.depth": "", "a.txt": "colorToDepthExtrinsics = 1"])
        == ["a": .certain])
    #expect(try Self.recognize(["a.depth": "", "a.h264": ""]) == ["a": .possible])
    #expect(try Self.recognize(["a.depth": "", "a.imu": ""]) == ["a": .possible])
    #expect(
      try Self.recognize(["a.depth": "", "a.txt": "hello", "a.imu": ""]) == ["a": .possible])
  }

  @Test("One ending alone, or files of different stems, are nothing")
  func nothing() throws {
    #expect(try Self.recognize([:]).isEmpty)
    #expect(try Self.recognize(["a.depth": ""]).isEmpty)
    #expect(try Self.recognize(["a.depth": "", "a.txt": "hello"]).isEmpty)
    #expect(try Self.recognize(["a.depth": "", "b.txt": "depthWidth = 640"]).isEmpty)
    #expect(try Self.recognize(["a.txt": "depthWidth = 640", "a.h264": "", "a.imu": ""]).isEmpty)
    #expect(try Self.recognize(["a.depth": "", "a.camera": "v1"]).isEmpty)
    #expect(try Self.recognize([".depth": "", ".imu": "", ".txt": "depthWidth = 640"]).isEmpty)
    #expect(try Self.recognize(["._a.depth": "", "._a.imu": ""]).isEmpty)
  }

  @Test("A folder holds several captures and foreign files")
  func several() throws {
    let found = try Self.recognize([
      "one.depth": "", "one.txt": "depthWidth = 640", "one.jpg": "", "one.sens": "",
      "two.2.depth": "", "two.2.h264": "", "two.ply": "", "notes.txt": "depthWidth = 640",
      "log": "", "three with blanks.depth": "", "three with blanks.imu": "",
    ])
    #expect(found == ["one": .certain, "two.2": .possible, "three with blanks": .possible])
  }

  @Test("A subfolder named like a file, or a link out of the folder, is no file of the capture")
  func foldersAndLinks() throws {
    try ScanNetFolder.temporary { folder in
      let scratch = ScanNetScratch(frames: 2)
      try Data(scratch.depthBytes()).write(to: URL(filePath: folder.appending("a.depth").string))
      try Data(scratch.metadataText().utf8)
        .write(to: URL(filePath: folder.appending("a.txt").string))
      try FileManager.default.createDirectory(
        atPath: folder.appending("a.camera").string, withIntermediateDirectories: false)
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending("a.imu").string, withDestinationPath: "/etc/passwd")
      let recognition = try #require(ScanNetReader.recognize(try FolderListing(of: folder)).first)
      let capture = try ScanNetReader.open(recognition)
      let codes = capture.warnings.map { "\($0.code.rawValue) \($0.subject)" }
      #expect(
        codes.sorted() == [
          "missing-file a.camera", "missing-file a.h264", "path-outside-capture a.imu",
        ])
      #expect(capture.imu.value == nil && capture.cameraSettings.value == nil)
      #expect(capture.completeness.missing.count == 3)
    }
  }
}
