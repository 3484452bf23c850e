@testable import Media
import FoundationEssentials
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@testable import Captures

/// Small inputs after public reports, and their siblings in other families.
@Suite("After public reports: worlds, clocks, turns, names, archives")
struct PublicReportTests {
  // MARK: Worlds

  @Test(
    "A recording that begins with the identity has the first camera's world",
    .needsReports)
  func firstCamera() throws {
    let capture = try Capture.report("record3d-world-is-first-camera")
    #expect(capture.world == .firstCamera)
    #expect(capture.poses.value?.rows.count == 2)
    let json = String(
      decoding: try JSONEncoder().encode(CaptureDocument(capture)), as: UTF8.self)
    #expect(json.contains("\"world\":\"first-camera\""))
  }

  @Test("Only the first usable pose tells whether up is known")
  func worlds() throws {
    let (identity, other) = ("[0, 0, 0, 1, 0, 0, 0]", "[0, 0.6, 0, 0.8, 1, 2, 3]")
    for (poses, world) in [
      ([identity, other], PoseWorld.firstCamera), ([other, identity], .yUp),
      (["[0, 0, 0, 0, 0, 0, 0]", identity, other], .firstCamera),
      (["[0, 0, 0, 1, 0, 0, 1e-9]", other], .yUp),
      (["[-0.0, 0, 0, 1, 0, 0, 0]", other], .firstCamera),
    ] {
      let scratch = try Record3DScratch()
      try scratch.write(
        Record3DScratch.metadata(4, ["poses": "[\(poses.joined(separator: ", "))]"]),
        to: "metadata")
      let capture = try scratch.open()
      #expect(capture.world == world, "\(poses)")
      let json = String(
        decoding: try JSONEncoder().encode(CaptureDocument(capture)), as: UTF8.self)
      #expect(json.contains("\"world\"") == (world == .firstCamera))
    }
  }

  @Test("A released scene has z up; with the app's own poses alone it has y up")
  func releasedScenes() throws {
    for (key, world) in [("aligned_pose", PoseWorld.zUp), ("pose", .yUp)] {
      let scratch = try ScratchCapture(named: "scene")
      try scratch.write(
        "{\"frame_000000\": {\"timestamp\": 1.5, \"\(key)\": [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]}}",
        to: "pose_intrinsic_imu.json")
      let capture = try scratch.open()
      #expect(capture.poses.value?.rows.count == 1)
      #expect(capture.world == world, "\(key)")
    }
  }

  // MARK: Positions

  @Test(
    "Fixes have altitudes, and tell the start of the recording",
    .needsReports)
  func fixes() throws {
    let capture = try Capture.report("3dscanner-gps")
    let geo = try #require(capture.geo.value)
    #expect(geo.coverage == .frames([0, 3, 7]))
    #expect(geo.track.positions.map(\.altitude) == [54.8, 55.099999999999994, 55.5])
    #expect(capture.recordedAt == "2022-03-04T10:25:18Z")
  }

  @Test("Altitudes that the phone calls invalid, and times that are none, do not count")
  func invalidFixes() throws {
    func frame(_ index: Int, _ more: String) -> String {
      """
      {"time": \(100 + index), "frame_index": \(index), "intrinsics": [9, 0, 3, 0, 9, 2, 0, 0, 1],
       "cameraPoseARFrame": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "hasGPS": true,
       "latitude": 10.5, "longitude": 20.5\(more)}
      """
    }
    func opened(
      _ more: [String], hasFixes: Bool = true, info: String = "{}"
    ) throws -> Capture {
      let scratch = try ScratchCapture(named: "2026_01_13_14_47_59")
      for (index, text) in more.enumerated() {
        let file = frame(index, text)
        try scratch.write(
          hasFixes ? file : file.replacing("\"hasGPS\": true", with: "\"hasGPS\": false"),
          to: "frame_0000\(index).json")
      }
      try scratch.write(info, to: "info.json")
      return try scratch.open()
    }
    func altitudes(_ more: String...) throws -> [Double?] {
      try opened(more).geo.value?.track.positions.map(\.altitude) ?? []
    }
    #expect(
      try altitudes(
        "", ", \"altitude\": 3.5", ", \"altitude\": 4, \"verticalAccuracy\": 2",
        ", \"altitude\": 5, \"verticalAccuracy\": -1", ", \"altitude\": 6, \"verticalAccuracy\": 0")
        == [nil, 3.5, 4, nil, nil])
    // Half of the fixes are not late: the median counts. Without any, the name of the folder does.
    let times = [1_646_389_500.0, 1_646_389_501.25, 1_646_380_002.0].map { ", \"gpsTime\": \($0)" }
    #expect(try opened(times).recordedAt == "2022-03-04T10:25:00Z")
    for none in ["", ", \"gpsTime\": 0", ", \"gpsTime\": null", ", \"gpsTime\": 1e300"] {
      #expect(try opened([none]).recordedAt == "2026-01-13T14:47:59", "\(none)")
    }
    let whole = try opened(
      [""], hasFixes: false,
      info: "{\"gpsLatitude\": 1, \"gpsLongitude\": 2, \"gpsAltitude\": 7.5}")
    #expect(whole.geo.value?.coverage == .firstFrameOnly)
    #expect(whole.geo.value?.track.positions.map(\.altitude) == [7.5])
  }

  // MARK: Stray Scanner before 1.2

  private static let early = Fixtures.reports?.appending("stray-before-1.2/capture")

  @Test(
    "Rows without time and number are frames by rank, at the times of the video",
    .needsReports)
  func beforeNumbers() throws {
    let capture = try Capture.report("stray-before-1.2")
    #expect(capture.generation == "early" && capture.clock.base == .video)
    #expect(capture.frames.count == 6)
    #expect(capture.frames.first?.timestamp == Timestamp(nanoseconds: 0))
    #expect(capture.frames.allSatisfy { $0.timestamp != nil && $0.colorTimestamp == $0.timestamp })
    #expect(capture.poses.value?.rows.map(\.frame) == Array(0..<6))
    #expect(capture.poses.value?.rows.first?.pose.position == [-0.13744351, 1.2922333, 0.26513934])
    #expect(capture.intrinsics.value?.count == 6 && capture.depth.value?.description.frames == 6)
    #expect(try capture.allCounts() == ["timestamps-missing frames": 6, "imu-missing imu": 1])
    #expect(capture.completeness.isWhole)
  }

  @Test(
    "Rows behind the last picture of a video that lost some have no time, and no disorder is told",
    .needsReports)
  func beforeNumbersWithLosses() throws {
    let scratch = try ScratchCapture(
      copyOf: try #require(Fixtures.reports).appending("stray-pictures-lost").appending("capture"))
    defer { Self.unlock(scratch.outer) }
    Self.unlock(scratch.outer)
    let rows = try scratch.text(of: "odometry.csv").split(separator: "\n").map { row in
      row.split(separator: ",")[2...8].joined(separator: ",")
    }
    try scratch.write(rows.joined(separator: "\n"), to: "odometry.csv")
    let capture = try scratch.open()
    #expect(capture.generation == "early" && capture.frames.count == 24)
    #expect(capture.frames.count { $0.timestamp != nil } == 20)
    let told = capture.warnings.map(\.code)
    #expect(!told.contains(.timestampsUnordered) && !told.contains(.timestampsDuplicate))
  }

  @Test(
    "As many rows as pictures prove nothing where depth has one frame more", .needsReports)
  func beforeNumbersWithMoreDepth() throws {
    let scratch = try ScratchCapture(copyOf: try #require(Self.early))
    defer { Self.unlock(scratch.outer) }
    Self.unlock(scratch.outer)
    try scratch.write(try scratch.bytes(of: "depth/000005.npy"), to: "depth/000006.npy")
    let capture = try scratch.open()
    #expect(capture.frames.count == 7)
    #expect(capture.color.value?.description.pairing?.isDoubtful == true)
    #expect(try capture.allCounts()["pairing-approximate color"] == 6)
  }

  @Test(
    "Without its header such a table is the same, and without video times are nominal",
    .needsReports)
  func beforeNumbersWithLess() throws {
    let scratch = try ScratchCapture(copyOf: try #require(Self.early))
    defer { Self.unlock(scratch.outer) }
    Self.unlock(scratch.outer)
    let whole = try scratch.open()
    var lines = try scratch.text(of: "odometry.csv").split(separator: "\n").map(String.init)
    lines.removeFirst()
    try scratch.write(lines.joined(separator: "\n") + "\n", to: "odometry.csv")
    let bare = try scratch.open()
    #expect(bare.generation == "early" && bare.frames == whole.frames)
    #expect(bare.poses.value?.rows == whole.poses.value?.rows)
    // A broken row costs its own frame only.
    lines[2] = "x, 1, 2, 3, 4, 5, 6"
    try scratch.write(lines.joined(separator: "\n") + "\n", to: "odometry.csv")
    let damaged = try scratch.open()
    #expect(damaged.poses.value?.rows.map(\.frame) == [0, 1, 3, 4, 5])
    #expect(try damaged.allCounts()["corrupt-record poses"] == 1)
    // The app writes no line end behind the last row; a row that lacks cells or digits is cut all the same.
    for (last, kept) in [
      ("1, 2, 3, 0, 0, 0, 1", [0, 1, 3, 4, 5]), ("1, 2, 3, 0, 0, 0, -", [0, 1, 3, 4]),
      ("1, 2, 3, 0, 0, 0, ", [0, 1, 3, 4]), ("1, 2, 3, 0, 0", [0, 1, 3, 4]),
    ] {
      lines[5] = last
      try scratch.write(lines.joined(separator: "\n"), to: "odometry.csv")
      let ended = try scratch.open()
      #expect(ended.poses.value?.rows.map(\.frame) == kept, "\(last)")
      let isCut = kept.last != 5
      #expect(ended.completeness.isWhole != isCut, "\(last)")
      #expect(try ended.allCounts()["truncated-stream poses"] == (isCut ? 1 : nil), "\(last)")
    }
    try scratch.remove("rgb.mp4")
    let still = try scratch.open()
    #expect(still.clock.base == .nominal && still.frames[3].timestamp?.nanoseconds == 50_000_000)
  }

  /// Copies of the cases have their permissions.
  private static func unlock(_ folder: FilePath) {
    for path in [folder.string]
      + ((try? folder.namesBelow()) ?? []).map({
        folder.string + "/" + $0
      })
    {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
  }

  // MARK: Turns

  @Test(
    "Pictures with different EXIF turns lie on the grid that they are stored in",
    .needsReports)
  func mixedTurns() throws {
    let capture = try Capture.report("polycam-mixed-exif")
    let color = try #require(capture.color.value)
    guard case .pictures(let pictures) = color.source else {
      Issue.record("no pictures")
      return
    }
    #expect(color.clockwiseQuarterTurns == 0)
    for index in 0..<12 {
      let picture = try #require(try pictures.decode(index).picture, "\(index)")
      #expect(picture.width == 160 && picture.height == 120)
      #expect(try pictures.stored(index).isUprightJPEG == (index < 5), "a copy would be turned")
    }
    let scan = try StreamScan(capture, budget: CoreBudget(cores: 2))
    #expect(scan.warnings.map(\.code) == [.mixedOrientations])
    #expect(scan.warnings.first?.count == 7 && scan.warnings.first?.severity == .note)
  }

  /// Pictures of one stored size with these EXIF orientations; `nil` is a file that is none.
  private static func pictures(
    _ orientations: [Int?], size: PictureSize? = nil
  ) throws -> (ColorPictures, NumberedFiles) {
    let scratch = try ScratchCapture(named: "in")
    for (index, orientation) in orientations.enumerated() {
      var jpeg = try JPEGWriter(quality: 90)
      var bytes: [UInt8] = []
      try jpeg.encode(
        rgb: [UInt8](repeating: 90, count: 16 * 8 * 3), width: 16, height: 8, into: &bytes)
      if let orientation, orientation > 0 {
        let exif =
          Array("Exif\0\0MM\0*".utf8)
          + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
        bytes.insert(
          contentsOf: [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif, at: 2)
      }
      try scratch.write(orientation == nil ? Array("x".utf8) : bytes, to: "00000\(index).jpg")
    }
    let files = NumberedFiles(
      try FolderListing(of: scratch.folder).files, endings: ["jpg"])
    let pictures = ColorPictures(
      StoredPictureFiles(files, in: scratch.folder), size: size, keepsOtherSizes: true)
    // Decoded here, as long as the folder is there.
    for index in orientations.indices { _ = try pictures.decode(index) }
    return (pictures, files)
  }

  @Test("One turn counts where all state it, none where they differ, and damage tells nothing")
  func turns() throws {
    // 0: no EXIF at all.
    for (stated, used) in [
      ([6, 6, 6], 6), ([0, 6, 6], 1), ([6, 0, 6], 1), ([3, 1, 1], 1), ([1, 3, 1], 1), ([0, 1], 1),
      ([8, 8, nil], 8), ([nil, 8, 8], 8), ([0, 0], 1),
    ] as [([Int?], Int)] {
      #expect(try Self.pictures(stated).0.head?.exifOrientation == used, "\(stated)")
    }
  }

  @Test(
    "Intrinsics of the size that pictures have after their turn belong to the upright pictures",
    arguments: [(6, true), (8, true), (5, false), (7, false), (3, false), (1, false)])
  func uprightGrid(orientation: Int, isUpright: Bool) throws {
    let turned = PictureSize(width: 8, height: 16)
    let pictures = try Self.pictures([orientation, orientation], size: turned).0
    #expect(pictures.head?.exifOrientation == (isUpright ? 1 : orientation))
    #expect(pictures.head?.storedSize == (isUpright ? turned : turned.turned))
    let stored = try Self.pictures([orientation], size: turned.turned).0
    #expect(stored.head?.exifOrientation == orientation)
    #expect(stored.head?.storedSize == turned.turned)
  }

  @Test(
    "Pictures that EXIF mirrors have neither poses nor intrinsics, whatever the family",
    arguments: [
      MadeCapture(family: "3d-scanner-app", frames: 3),
      MadeCapture(family: "polycam", frames: 3),
      MadeCapture(family: "record3d", generation: "r3d-folder", frames: 3),
    ], [1, 5])
  func mirrored(made: MadeCapture, orientation: Int) throws {
    let scratch = try ScratchCapture(copyOf: try made.folder())
    for name in try scratch.folder.namesBelow()
    where name.hasSuffix(".jpg") {
      try scratch.write(
        ColorImage.tagged(try scratch.bytes(of: name), orientation: orientation), to: name)
    }
    let capture = try scratch.open()
    #expect(capture.color.value?.isMirrored == (orientation == 5))
    #expect((capture.poses.value == nil) == (orientation == 5))
    #expect((capture.intrinsics.value == nil) == (orientation == 5))
    #expect((capture.alignment?.colorIntrinsics == nil) == (orientation == 5))
  }

  // MARK: Corrected alone

  @Test(
    "An export of corrected pictures alone is read, and what is absent is told",
    .needsReports)
  func onlyCorrected() throws {
    let capture = try Capture.report("polycam-only-corrected")
    #expect(capture.color.value?.description.file == "corrected_images")
    #expect(capture.color.value?.description.frames == 12)
    #expect(capture.depth.value?.description.frames == 12)
    let warning = try #require(
      capture.warnings.first { $0.code == .missingFile && $0.subject == "keyframes" })
    #expect(warning.message.contains("cameras and images"))
    #expect(warning.message.contains("Polycam"))
    #expect(!capture.completeness.isWhole)
    #expect(capture.completeness.absentFiles == ["cameras/*.json", "images/*.jpg"])
  }

  // MARK: Archives

  @Test(
    "An archive that was packed again is read in its only folder",
    .needsReports)
  func packedAgain() throws {
    let capture = try Capture.report("record3d-rezipped")
    #expect(capture.id == "2024-03-17--18-25-12" && capture.frames.count == 2)
    #expect(try capture.allCounts().isEmpty)
    #expect(capture.poses.value?.rows.count == 2 && capture.color.value?.description.frames == 2)
  }

  @Test("Every archive gives the same in a folder, whatever macOS adds; two folders are none")
  func folders() throws {
    let scratch = try Record3DScratch()
    func opened(_ change: (inout ScratchZIP) -> Void) throws -> Capture? {
      let path = try scratch.archive(change)
      let found = CaptureFinder(.builtIn).find(path).captures.first
      return try found.map(CaptureRegistry.builtIn.open)
    }
    func nest(_ zip: inout ScratchZIP, in folder: String) {
      for index in zip.entries.indices {
        zip.entries[index].name = Array(folder.utf8) + zip.entries[index].name
      }
    }
    let plain = try #require(try opened { _ in })
    let extras = ["a/", "__MACOSX/a/._metadata", ".DS_Store", "a/.DS_Store"]
    for isCut in [false, true] {
      let nested = try #require(
        try opened { zip in
          nest(&zip, in: "a/")
          zip.entries += extras.map { ScratchZIP.Entry($0, []) }
          zip.hasDirectory = !isCut
        })
      #expect(nested.frames == plain.frames && nested.poses.value?.rows == plain.poses.value?.rows)
      #expect(nested.depth.value?.description == plain.depth.value?.description)
      #expect(nested.color.value?.description == plain.color.value?.description)
    }
    #expect(
      try opened { zip in
        nest(&zip, in: "a/")
        zip.entries.append(ScratchZIP.Entry("b/readme.txt", [1]))
      } == nil)
    #expect(try opened { nest(&$0, in: "a/b/") } == nil)
  }

  @Test("A matrix of three rows is the same nine numbers")
  func nestedMatrix() throws {
    let scratch = try Record3DScratch()
    func camera(_ matrix: String) throws -> [Double]? {
      try scratch.write(
        Record3DScratch.metadata(4, ["K": matrix, "perFrameIntrinsicCoeffs": nil]), to: "metadata")
      return try scratch.open().intrinsics.value?.first.map { [$0.fx, $0.fy, $0.cx, $0.cy] }
    }
    #expect(try camera("[[7, 0, 3.5], [0, 7.5, 5.5], [0, 0, 1]]") == [7, 7.5, 3.5, 5.5])
    #expect(try camera("[[7, 0, 3.5], [0, 7.5, 5.5]]") == nil)
    #expect(try camera("[[7, 0, 3.5], [0, 7.5, 5.5], 1]") == nil)
  }

  @Test(
    "An export whose metadata is no JSON, or lost, has its pictures by number",
    arguments: ["no JSON", "{\"poses\": [", "[]", "{}", "", nil] as [String?])
  func exportWithoutMetadata(metadata: String?) throws {
    let made = try MadeCapture(family: "record3d", generation: "exr", frames: 3).folder()
    let scratch = try ScratchCapture(copyOf: made)
    if let metadata {
      try scratch.write(metadata, to: "EXR_RGBD/metadata.json")
    } else {
      try scratch.remove("EXR_RGBD/metadata.json")
    }
    let capture = try scratch.open()
    #expect(capture.generation == "exr" && capture.frames.count == 3)
    #expect(capture.color.value?.frameOfPicture == [0, 1, 2])
    #expect(capture.depth.value?.description.frames == 3)
    #expect(capture.clock.base == .nominal)
    let found = try capture.allCounts()
    #expect(found["timestamps-missing frames"] == 3 && found["calibration-missing color"] == 1)
    #expect(
      (found["missing-file metadata"] ?? 0) + (found["corrupt-record metadata"] ?? 0)
        == (metadata == "{}" ? 0 : 1))
  }

  // MARK: Names

  @Test(
    "A folder that is called the same for every capture gives its parent's name",
    arguments: [
      ("room/All_Data", "room"), ("room/all data", "room"), ("room/EXR_RGBD", "room"),
      ("room/keyframes", "room"), ("room/iphone", "room-iphone"),
      ("room/All_Data/keyframes", "room"), ("room/capture", "capture"), ("iphone 12", "iphone 12"),
      ("room/All_Data/.", "room"),
    ])
  func names(path: String, id: String) throws {
    let place = try TemporaryFolder()
    let folder = place.path.pushing(FilePath(path))
    try FileSystem.makeFolder(folder)
    #expect(FolderName.id(of: folder) == id)
    #expect(
      Recognition(family: .vislam, certainty: .certain, folder: folder, reason: "").id == id)
    #expect(
      Recognition(family: .scannet, certainty: .certain, folder: folder, stem: "a", reason: "").id
        == "a")
  }

  @Test(
    "No family has names of its own",
    arguments: ["stray-scanner", "3d-scanner-app", "polycam", "vi-slam", "strabo", "arkit-scanner"])
  func everyFamily(family: String) throws {
    let scratch = try ScratchCapture(
      copyOf: try MadeCapture(family: family, generation: nil, frames: 2).folder())
    let parent = scratch.outer.appending("attic")
    try FileSystem.makeFolder(parent)
    let folder = parent.appending("All_Data")
    try scratch.folder.move(to: folder)
    let found = CaptureFinder(.builtIn).find(parent).captures
    #expect(found.map(\.family.rawValue) == [family] && found.map(\.id) == ["attic"])
  }
}
