import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

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

@Suite("ScanNet captures", .enabled(if: Fixtures.arePresent, "needs ../shared/fixtures"))
struct ScanNetFixtureTests {
  static let cases = Fixtures.cases(of: "scannet")

  static func open(_ fixture: FixtureCase) throws -> (capture: Capture, expected: ScanNetExpected) {
    (
      try fixture.certainCapture(), try fixture.json(ScanNetExpected.self, from: "expected.json")
    )
  }

  @Test("Identity and metadata", arguments: cases)
  func identity(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    #expect(capture.id == expected.id)
    #expect(capture.family.rawValue == expected.family)
    #expect(capture.generation == expected.generation)
    #expect(capture.clock == CaptureClock(.uptime, unit: "s"))
    #expect(capture.scene.label == expected.metadata["scene.label"])
    #expect(capture.scene.type == expected.metadata["scene.type"])
    #expect(capture.device.id == expected.metadata["device.id"])
    #expect(capture.device.name == expected.metadata["device.name"])
    #expect(capture.recordedAt == expected.metadata["recordedAt"])
    #expect(capture.completeness.isWhole == (fixture.name != "killed_app"))
    #expect(Set(capture.files.keys).isSuperset(of: [.color, .depth, .imu, .frames, .calibration]))
  }

  @Test("Streams, counted and claimed", arguments: cases)
  func streams(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let found = [
      "color": capture.color.value?.description, "depth": capture.depth.value?.description,
      "imu": capture.imu.value?.description,
      "cameraSettings": capture.cameraSettings.value?.description,
    ]
    for (name, description) in found {
      let description = try #require(description)
      let expected = try #require(expected.streams[name] ?? nil)
      #expect(description.file == expected.file)
      #expect(description.encoding == expected.encoding)
      #expect(description.width == expected.width)
      #expect(description.height == expected.height)
      #expect(description.frames == expected.frames)
      #expect(description.declaredFrames == expected.declaredFrames)
      if expected.encoding == "structure-shift11" {
        #expect(description.firstTimestamp?.nanoseconds == expected.firstTimestampNs)
        #expect(description.lastTimestamp?.nanoseconds == expected.lastTimestampNs)
      }
    }
    let imu = try #require(capture.imu.value)
    #expect(imu.sampleCounts == expected.streams["imu"]??.samples)
    #expect(imu.convention == .coremotion)
    #expect(imu.gapThresholdNanoseconds == Array(repeating: 250_000_000, count: 5))
    #expect(capture.depth.value?.access.recordCount == expected.streams["depth"]??.frames)
  }

  @Test("Stored shifts stay reachable beside the millimeters")
  func storedShifts() throws {
    let (capture, _) = try Self.open(try #require(Self.cases.first { $0.name == "healthy" }))
    let stream = try #require(capture.depth.value)
    let stored = try #require(stream.storedValues)
    let source = try stream.indexed
    var shifts: [UInt16] = []
    var millimeters: [UInt16] = []
    for record in 0..<source.recordCount {
      #expect(try stored.decode(record: record, into: &shifts).hasPicture)
      #expect(try source.decode(record: record, into: &millimeters).hasPicture)
      #expect(shifts.count == 640 * 480)
      #expect(shifts.contains { $0 > 1103 })
      let expected = shifts.map { shift -> UInt16 in
        (1...1103).contains(shift) ? UInt16(1_799_999 / (6809 - 6 * Int(shift))) : 0
      }
      #expect(millimeters == expected)
    }
    #expect(try !source.decode(record: source.recordCount, into: &millimeters).hasPicture)
  }

  @Test("Both cameras and the transform from depth to color", arguments: cases)
  func calibration(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let alignment = try #require(capture.alignment)
    #expect(alignment.registered == expected.alignment.registered)
    let matrix = try #require(alignment.colorFromDepth).rowMajor
    for (value, expected) in zip(matrix, expected.alignment.colorFromDepth) {
      #expect(abs(value - expected) < 1e-5)
    }
    let depth = try #require(expected.intrinsics["depth"])
    #expect(
      alignment.depthIntrinsics
        == PinholeCamera(
          width: 640, height: 480, fx: depth.fx, fy: depth.fy, cx: depth.cx, cy: depth.cy))
    let color = try #require(expected.intrinsics["color"])
    let size = try #require(expected.streams["color"] ?? nil)
    let camera = PinholeCamera(
      width: try #require(size.width), height: try #require(size.height), fx: color.fx,
      fy: color.fy, cx: color.cx, cy: color.cy)
    #expect(alignment.colorIntrinsics == camera)
    #expect(
      capture.intrinsics.value
        == (0..<expected.frames).map {
          IntrinsicsRow(
            frame: $0, width: camera.width, height: camera.height, fx: camera.fx, fy: camera.fy,
            cx: camera.cx, cy: camera.cy)
        })
    #expect(alignment.depthDistortion.isNone && alignment.colorDistortion.isNone)
  }

  @Test("Camera settings", arguments: cases)
  func cameraSettings(fixture: FixtureCase) throws {
    let (capture, expected) = try Self.open(fixture)
    let rows = try #require(capture.cameraSettings.value).rows
    #expect(rows.map(\.frame) == Array(0..<expected.cameraSettings.rows.count))
    #expect(
      rows.map { [$0.gainRed, $0.gainGreen, $0.gainBlue, $0.exposureSeconds, $0.iso] }
        == expected.cameraSettings.rows.map { $0.map(Optional.some) })
    #expect(rows.allSatisfy { $0.exposureOffsetEV == nil })
  }
}
