@testable import Captures
@testable import Core
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("Opening ScanNet captures")
struct ScanNetOpeningTests {
  @Test("Without metadata depth is 640x480 and the cameras are unknown")
  func noMetadata() throws {
    var scratch = ScanNetScratch(frames: 3)
    scratch.payloads = (0..<3).map { ScanNetScratch.payload(frame: $0, pixels: 640 * 480) }
    scratch.absent = ["txt"]
    try scratch.opened { capture in
      let depth = try #require(capture.depth.value)
      #expect(depth.width == 640 && depth.height == 480)
      #expect(depth.description.declaredFrames == nil)
      #expect(capture.alignment == nil)
      #expect(capture.intrinsics.value == nil)
      #expect(capture.frames.allSatisfy { $0.timestamp != nil })
      #expect(try capture.allWarnings().countsByCode == ["missing-file": 1])
      #expect(try depth.digests().allSatisfy { $0 != nil })
      #expect(!capture.completeness.isWhole)
    }
  }

  @Test("A depth file without a whole frame is unreadable; everything else goes on")
  func noFrame() throws {
    for length in [0, 3, 100] {
      var scratch = ScanNetScratch(frames: 5)
      scratch.depthTail = length - scratch.depthBytes().count
      try scratch.opened { capture in
        let error = try #require(capture.depth.error)
        #expect(error.record == 0 && error.byteOffset == 0)
        #expect(error.file.lastComponent?.string == "\(scratch.stem).depth")
        #expect(capture.frames.count == 5)
        #expect(capture.color.value?.description.frames == 5)
        #expect(capture.imu.value?.sampleCounts.count == 5)
        #expect(capture.cameraSettings.value?.rows.count == 5)
      }
    }
  }

  @Test("A color file without a picture is unreadable; depth goes on", arguments: ["", "no video"])
  func noPicture(content: String) throws {
    var scratch = ScanNetScratch(frames: 4)
    scratch.absent = ["h264"]
    try scratch.opened(with: ["\(scratch.stem).h264": Array(content.utf8)]) { capture in
      #expect(capture.color.error?.file.lastComponent?.string == "\(scratch.stem).h264")
      #expect(capture.frames.count == 4)
      #expect(capture.warnings.isEmpty)
    }
  }

  @Test("Nothing left of a recognized capture is an error, and so is a folder that went away")
  func nothingLeft() throws {
    let scratch = try ScratchCapture(named: "in")
    for folder in [scratch.folder, scratch.outer.appending("nowhere")] {
      let recognition = Recognition(
        family: .scannet, certainty: .certain, folder: folder, stem: "gone", id: "gone", reason: "")
      #expect(throws: CaptureError.self) { try ScanNetReader.open(recognition) }
    }
  }

  @Test("The camera file may be called .cam")
  func shortCameraName() throws {
    var scratch = ScanNetScratch(frames: 3)
    scratch.absent = ["camera"]
    try scratch.opened(with: ["\(scratch.stem).cam": scratch.cameraBytes()]) { capture in
      #expect(capture.warnings.isEmpty)
      let stream = try #require(capture.cameraSettings.value)
      #expect(stream.description.file == "\(scratch.stem).cam")
      #expect(stream.rows.map(\.iso) == [200, 201, 202])
      #expect(capture.completeness.isWhole)
    }
  }

  @Test("Settings behind the last canonical frame are dropped, but counted")
  func settingsBehindTheEnd() throws {
    var scratch = ScanNetScratch(frames: 3)
    scratch.cameraRecords = 9
    try scratch.opened { capture in
      let stream = try #require(capture.cameraSettings.value)
      #expect(stream.description.frames == 9)
      #expect(stream.rows.map(\.frame) == [0, 1, 2])
    }
  }

  @Test("Depth registered by the device is the identity, with both cameras as stated")
  func registered() throws {
    var scratch = ScanNetScratch(frames: 2)
    scratch.keys["colorToDepthExtrinsics"] =
      "1.000000 0 0 0.000000 0 1 0 -0.000000 0 0 1 0 0 0 0 1"
    try scratch.opened { capture in
      let alignment = try #require(capture.alignment)
      #expect(alignment.registered)
      #expect(alignment.colorFromDepth == .identity)
      #expect(alignment.depthIntrinsics?.fx == 28.5)
      #expect(alignment.colorIntrinsics?.fx == 290.5)
    }
  }

  @Test("A capture of several in a folder is read from its own files")
  func several() throws {
    let folder = try TemporaryFolder()
    for (stem, frames) in [("a", 2), ("b.c", 4)] {
      var scratch = ScanNetScratch(frames: frames)
      scratch.stem = stem
      try scratch.write(to: folder.path)
    }
    let found = ScanNetReader.recognize(try FolderListing(of: folder.path))
    #expect(found.map(\.id) == ["a", "b.c"])
    let captures = try found.map { try ScanNetReader.open($0) }
    #expect(captures.map(\.frames.count) == [2, 4])
    #expect(captures.allSatisfy { $0.warnings.isEmpty && $0.recordedAt == nil })
    #expect(captures.map(\.id) == ["a", "b.c"])
    #expect(
      captures[1].files[.depth]?.compactMap(\.lastComponent?.string) == ["b.c.depth", "b.c.txt"])
  }

  @Test("The header of an IMU file is detected by its times, not by its size")
  func imuHead() throws {
    let start = ScanNetScratch.bytes((999.4).bitPattern)
    for (head, tail, encoding) in [
      ([], 0, "scannet-imu-128"), ([], 8, "scannet-imu-128"), ([], 120, "scannet-imu-128"),
      (start, 0, "scannet-imu-128-head8"), (start, 120, "scannet-imu-128-head8"),
      (start, 40, "scannet-imu-128-head8"),
    ] as [([UInt8], Int, String)] {
      var scratch = ScanNetScratch(frames: 2)
      scratch.imuHead = head
      scratch.imuTail = Array(repeating: 0x40, count: tail)
      try scratch.opened { capture in
        let stream = try #require(capture.imu.value)
        #expect(stream.description.encoding == encoding)
        #expect(stream.samples.count == scratch.imuTimes.count * 5)
        #expect(stream.samples.first?.timestamp == Timestamp(exactSeconds: 999.5))
        #expect(capture.warnings.map(\.code) == (tail > 0 ? [.imuPartialRecord] : []))
      }
    }
  }

  @Test("A steady rotation is not taken for the times, though one of those is lost")
  func imuWithoutHead() throws {
    var scratch = ScanNetScratch(frames: 2)
    scratch.imuTimes = []
    scratch.imuHead = (0..<64).flatMap { record in
      let time = record == 9 ? 0 : 999.5 + Double(record) / 60
      return ([time] + Array(repeating: 0.1, count: 15)).flatMap {
        ScanNetScratch.bytes($0.bitPattern)
      }
    }
    try scratch.opened { capture in
      let stream = try #require(capture.imu.value)
      #expect(stream.description.encoding == "scannet-imu-128")
      #expect(stream.samples.first?.timestamp == Timestamp(exactSeconds: 999.5))
      #expect(stream.samples.count == 63 * 5)
    }
  }

  @Test("Columns go to their sensors, accelerations in meters per second squared")
  func imuColumns() throws {
    try ScanNetScratch(frames: 2).opened { capture in
      let stream = try #require(capture.imu.value)
      #expect(
        stream.sensors == [
          "magnetometer", "userAcceleration", "rotationRate", "gravity", "attitude",
        ])
      let first = stream.samples.prefix(5).map { [$0.x, $0.y, $0.z] }
      let g = 9.80665
      #expect(
        first == [
          [7, 8, 9], [4 * g, 5 * g, 6 * g], [1, 2, 3], [13 * g, 14 * g, 15 * g], [10, 11, 12],
        ])
    }
  }

  @Test("A vector with a value that is no number has no row; the others of its record have")
  func imuNonFinite() throws {
    var scratch = ScanNetScratch(frames: 2)
    scratch.patches["imu"] = [
      3 * 128 + 8: ScanNetScratch.bytes(Double.nan.bitPattern),
      5 * 128: ScanNetScratch.bytes((-Double.infinity).bitPattern),
    ]
    try scratch.opened { capture in
      let counts = try #require(capture.imu.value).sampleCounts
      let records = scratch.imuTimes.count
      #expect(counts["rotationRate"] == records - 2)
      #expect(counts["gravity"] == records - 1)
      #expect(capture.warnings.map(\.code) == [.nonFiniteValue])
      #expect(capture.warnings.map(\.count) == [2])
    }
  }
}

@Suite("Recognizing ScanNet captures")
struct ScanNetRecognitionTests {
  /// Writes `files` into a folder and tells what is recognized: stem → certain or possible.
  static func recognize(_ files: [String: String]) throws -> [String: Recognition.Certainty] {
    let scratch = try ScratchCapture(named: "in", files)
    let found = ScanNetReader.recognize(try FolderListing(of: scratch.folder))
    #expect(found.allSatisfy { $0.id == $0.stem && $0.family == .scannet && !$0.reason.isEmpty })
    return Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.certainty) })
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
    let written = ScanNetScratch(frames: 2)
    let scratch = try ScratchCapture(named: "in", ["a.txt": written.metadataText()])
    try scratch.write(written.depthBytes(), to: "a.depth")
    try scratch.write("", to: "a.camera/inner")
    try scratch.link("a.imu", to: "/etc/passwd")
    let capture = try ScanNetScratch.open(scratch.folder)
    let codes = capture.warnings.map { "\($0.code.rawValue) \($0.subject)" }
    #expect(
      codes.sorted() == [
        "missing-file a.camera", "missing-file a.h264", "path-outside-capture a.imu",
      ])
    #expect(capture.imu.value == nil && capture.cameraSettings.value == nil)
    #expect(capture.completeness.missing.count == 3)
  }
}
