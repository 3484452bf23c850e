import FoundationEssentials
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Synthetic

@Suite("What a warning weighs")
struct WarningSeverityTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var code: WarningCode
    var count: Int
    var extent: WarningExtent
    var expected: WarningSeverity
    var testDescription: String { "\(code.rawValue) ×\(count) of \(extent): \(expected)" }

    init(
      _ code: WarningCode, _ count: Int, _ extent: WarningExtent, _ expected: WarningSeverity
    ) {
      self.code = code
      self.count = count
      self.extent = extent
      self.expected = expected
    }
  }

  static func outside(_ before: Int, _ after: Int, of frames: Int, _ rateHz: Double?)
    -> WarningExtent
  {
    var outside = FramesOutside(frames: frames, rateHz: rateHz)
    outside.before = before
    outside.after = after
    return .ends(outside)
  }

  static let cases = [
    Case(.frameGap, 1, .size(100), .note), Case(.frameGap, 1, .size(99), .warning),
    Case(.frameGap, 43, .size(4325), .note), Case(.frameGap, 44, .size(4325), .warning),
    Case(.frameGap, 1, .unknown, .warning),
    Case(.timestampsUnordered, 1, .size(1000), .note),
    Case(.timestampsUnordered, 1, .size(999), .warning),
    Case(.timestampsUnordered, 721, .size(720_000), .warning),
    Case(.imuOutsideFrames, 60, outside(30, 30, of: 300, 30), .note),
    Case(.imuOutsideFrames, 31, outside(31, 0, of: 300, 30), .warning),
    Case(.imuOutsideFrames, 31, outside(0, 31, of: 300, 30), .warning),
    // 29.97 pictures a second: thirty of them.
    Case(.imuOutsideFrames, 30, outside(30, 0, of: 300, 29.97), .note),
    Case(.imuOutsideFrames, 5, outside(0, 5, of: 300, nil), .warning),
    // No frame has a sample: nothing of that is handled without loss.
    Case(.imuOutsideFrames, 20, outside(20, 0, of: 20, 30), .warning),
    Case(.unknownKey, 1_000_000, .unknown, .note),
    Case(.timestampsDuplicate, 1, .size(1_000_000), .warning),
    Case(.imuGap, 1, .size(1_000_000), .warning),
    Case(.corruptRecord, 1, .size(1_000_000), .warning),
  ]

  @Test("What ordinary recordings show, up to its bound, is a note", arguments: cases)
  func rule(_ example: Case) {
    let warning = CaptureWarning(
      example.code, "x", count: example.count, of: example.extent, "message")
    #expect(warning.severity == example.expected)
  }

  @Test("Counts that add up are weighed by their sum")
  func sums() {
    let collector = WarningCollector()
    collector.add(.frameGap, "frames", count: 1, of: .size(150), "gaps")
    #expect(collector.warnings.map(\.severity) == [.note])
    collector.add(.frameGap, "frames", count: 1, of: .size(150), "gaps")
    #expect(collector.warnings.map(\.severity) == [.warning])
    #expect(collector.warnings.map(\.count) == [2])
    collector.add(.imuGap, "imu", count: .max, "gaps")
    collector.add(.imuGap, "imu", count: 1, "gaps")
    #expect(collector.warnings.last?.count == .max)
  }

  @Test("Documents say it")
  func coding() throws {
    let note = CaptureWarning(.unknownKey, "x", "message")
    let text = String(decoding: try JSONEncoder().encode(note), as: UTF8.self)
    #expect(text.contains("\"severity\":\"note\""))
    #expect(try JSONDecoder().decode(CaptureWarning.self, from: Data(text.utf8)) == note)
  }

  @Test("Merged lists have their notes at the end")
  func order() {
    let note = CaptureWarning(.unknownKey, "a", "m")
    let warning = CaptureWarning(.imuGap, "b", "m")
    let merged = [note, warning].merged(with: [CaptureWarning(.trailingData, "c", "m"), warning])
    #expect(merged.map(\.code) == [.imuGap, .trailingData, .unknownKey])
    #expect(merged.withoutNotes.map(\.code) == [.imuGap, .trailingData])
  }

  @Test("A phone's IMU that starts late and ends early: each end counts by itself")
  func ends() throws {
    func severity(firstFrame: Int, lastFrame: Int) throws -> WarningSeverity? {
      let scratch = try VISLAMScratch()
      // 120 frames at 30 Hz; the samples cover the frames given, and a little more.
      let times = stride(
        from: Int64(firstFrame) * 33_333_333 - 1, to: Int64(lastFrame) * 33_333_333 + 10_000_001,
        by: 10_000_000)
      try scratch.write(
        VISLAMTables.imuHeader
          + times.map { "\(VISLAMTables.start + $0),gyroscope,0,0,0\n" }.joined(),
        to: "imu_data.csv")
      try scratch.write(
        VISLAMTables.frameHeader + VISLAMTables.frames((0..<120).map(Double.init)),
        to: "frame_metadata.csv")
      return try scratch.open().warnings.first { $0.code == .imuOutsideFrames }?.severity
    }
    #expect(try severity(firstFrame: 0, lastFrame: 119) == nil)
    #expect(try severity(firstFrame: 30, lastFrame: 90) == .note)
    #expect(try severity(firstFrame: 32, lastFrame: 119) == .warning)
    #expect(try severity(firstFrame: 0, lastFrame: 87) == .warning)
  }

  @Test(
    "A real scan of an iPad has no warnings but what it lacks",
    .enabled(
      if: FileManager.default.fileExists(atPath: "../shared/real/scan3d/capture"),
      "real recordings are not part of the project"))
  func real() throws {
    let capture = try ARKitScannerReader.open(
      Recognition(
        family: .arkitScanner, certainty: .certain, folder: "../shared/real/scan3d/capture",
        id: "capture", reason: "test"))
    // Its motion samples were not published: `imu.json` is `{}`.
    #expect(capture.warnings.withoutNotes.map(\.code) == [.imuMissing])
  }
}

@Suite("How many warnings there are")
struct WarningCountTests {
  @Test("One code at two subjects is one kind; counts are occurrences; notes count nowhere")
  func counts() {
    let warnings = [
      CaptureWarning(.corruptRecord, "depth", count: 3, ""),
      CaptureWarning(.corruptRecord, "color", count: 1, ""),
      CaptureWarning(.emptyRecord, "depth", count: 7, ""),
      CaptureWarning(.unknownKey, "txt", count: 9, ""),
    ]
    #expect(warnings.counted.words == "2 kinds, 11 occurrences")
    #expect(WarningCount([warnings[1]]).sentence == "1 kind of warning, 1 occurrence")
    #expect(WarningCount([warnings[3]]).isNone)
    #expect(WarningCount([CaptureWarning(.emptyRecord, "x", count: .max, "")]).occurrences == .max)
  }
}

/// A disk or a network that fails while a capture is looked for and opened: nothing that is told of the
/// capture may be made without the file that could not be read, and the cause is told.
@Suite("A disk that fails while a capture is looked at", .serialized)
struct DeviceErrorTests {
  static let families = [
    "scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo", "stray-scanner", "3d-scanner-app",
    "polycam",
  ]

  private static func capture(_ family: String, _ folder: TemporaryFolder) throws -> FilePath {
    var options = SynthesisOptions(output: folder.path)
    (options.frames, options.width, options.height) = (3, 64, 48)
    if !["arkit-scanner", "multiscan"].contains(family) {
      (options.depthWidth, options.depthHeight) = (32, 24)
    }
    (options.id, options.truthPictures) = ("a", 0)
    let made = try SyntheticFamilies.write(family, options).folder
    return PathSafety.resolved(made) ?? made
  }

  /// What a capture has, as far as it matters here.
  private static func outline(_ capture: Capture) -> [String] {
    [
      "\(capture.frames.count) frames", "color \(capture.color.value != nil)",
      "depth \(capture.depth.value != nil)", "imu \(capture.imu.value?.samples.count ?? -1)",
      "poses \(capture.poses.value?.rows.count ?? -1)",
      "intrinsics \(capture.intrinsics.value?.count ?? -1)",
      "warnings \(capture.warnings.map { "\($0.code) \($0.subject)" })",
      "missing \(capture.completeness.absentFiles)",
    ]
  }

  /// At every file and folder of the capture, one after the other, every kind of look fails: for good, and at the
  /// first time only.
  @Test(
    "Every look at every file: told as the machine's, never as a capture of another kind",
    arguments: families)
  func everyLook(family: String) throws {
    let folder = try TemporaryFolder()
    let place = try Self.capture(family, folder)
    let registry = CaptureRegistry.builtIn
    let recognition = try #require(CaptureFinder(registry).find(place).captures.first)
    let whole = Self.outline(try registry.open(recognition))
    let seen = Mutex<Set<String>>([])
    StorageFaults.setLooks(below: place) { look, path in
      seen.withLock { _ = $0.insert("\(look.rawValue) \(path.text)") }
      return nil
    }
    _ = try registry.open(recognition)
    StorageFaults.setLooks(below: place, nil)
    let looks = seen.withLock { $0.sorted() }
    #expect(looks.count > 5)
    for (number, failing) in looks.enumerated() {
      let injected: Errno = [.ioError, .staleNFSFileHandle, .timedOut][number % 3]
      let isOnce = number % 2 == 0
      let count = Mutex(0)
      StorageFaults.setLooks(below: place) { look, path in
        guard "\(look.rawValue) \(path.text)" == failing else { return nil }
        let before = count.withLock { count in
          count += 1
          return count - 1
        }
        return isOnce && before > 0 ? nil : injected
      }
      defer { StorageFaults.setLooks(below: place, nil) }
      do throws(CaptureError) {
        let capture = try registry.open(recognition)
        #expect(capture.isToBeOpenedAgain, "\(failing) \(injected)")
      } catch {
        #expect(error.errorNumber == injected, "\(failing): \(error)")
        #expect(error.remedy?.contains("copy") != true, "\(error)")
      }
      StorageFaults.setLooks(below: place, nil)
      #expect(Self.outline(try registry.open(recognition)) == whole, "\(failing)")
    }
  }

  @Test(
    "A search tells what it could not look at, and recognizes nothing in it", arguments: families)
  func search(family: String) throws {
    let folder = try TemporaryFolder()
    let place = try Self.capture(family, folder)
    let root = PathSafety.resolved(folder.path) ?? folder.path
    let finder = CaptureFinder(CaptureRegistry.builtIn)
    let found = finder.find(root)
    let kinds: [StorageFaults.Look] = [.list, .open]
    for kind in kinds {
      StorageFaults.setLooks(below: place) { look, path in
        look == kind && (kind == .open || path == place) ? .staleNFSFileHandle : nil
      }
      let failing = finder.find(root)
      StorageFaults.setLooks(below: place, nil)
      #expect(!failing.captures.contains { $0.path.starts(with: place) && kind == .list })
      #expect(failing.captures.allSatisfy { found.captures.contains($0) })
      #expect(!failing.unrecognized.contains { $0.path.starts(with: place) })
      #expect(
        failing.unreadable.contains { $0.error.code == .staleNFSFileHandle }
          || !failing.captures.isEmpty)
    }
    #expect(finder.find(root).captures == found.captures)
  }

  @Test(
    "A folder that is called like one of a storage server is searched where an upload server noted files in it"
  )
  func uploads() throws {
    let folder = try TemporaryFolder()
    for name in ["lost+found", "#recycle"] {
      let scratch = folder.path.appending(name)
      try FileSystem.makeFolder(scratch)
      let made = try Self.capture("vi-slam", folder)
      try FileSystem.rename(made, to: scratch.appending("x"))
      try FileSystem.remove(folder.path.appending("a.truth"))
    }
    let finder = CaptureFinder(CaptureRegistry.builtIn)
    #expect(finder.find(folder.path).captures.isEmpty)
    try OutputFile.write(
      Array("{}".utf8), to: folder.path.appending("lost+found").appending(UploadManifest.fileName))
    #expect(finder.find(folder.path).captures.map { $0.path.name } == ["x"])
  }
}
