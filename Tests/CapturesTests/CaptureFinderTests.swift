import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

@Suite struct CaptureFinderTests {
  /// A folder with `toy.txt` is a capture; every `NAME.toy` is one of a shelf.
  private enum Toys: CaptureReader {
    static let description = FamilyDescription(
      CaptureFamily("toys"), title: "Toys", generations: [.init("t1")],
      recognition: "a folder of toys")
    static let readerVersion = 1

    static func recognize(_ listing: FolderListing) -> [Recognition] {
      if listing.contains("toy.txt"), !listing.head(of: "toy.txt").isEmpty {
        return [found(listing, nil, listing.folder.name ?? "")]
      }
      return listing.files.filter { $0.hasSuffix(".toy") }
        .map { found(listing, String($0.dropLast(4)), String($0.dropLast(4))) }
    }

    private static func found(_ listing: FolderListing, _ stem: String?, _ id: String)
      -> Recognition
    {
      Recognition(
        family: family, certainty: .certain, folder: listing.folder, stem: stem, id: id,
        reason: "toy")
    }

    static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
      throw CaptureError(file: recognition.folder, problem: "a toy")
    }
  }

  private let scratch: ScratchCapture
  private let finder = CaptureFinder(CaptureRegistry([Toys.self]))

  init() throws { scratch = try ScratchCapture(named: "in") }

  private func ids(_ path: FilePath? = nil) -> [String] {
    finder.find(path ?? scratch.folder).captures.map(\.id)
  }

  private var root: FilePath { PathSafety.resolved(scratch.folder) ?? scratch.folder }

  @Test func `captures lie up to six levels below, and no deeper`() throws {
    for depth in 1...7 {
      let folders = (1..<depth).map { "d\($0)" } + ["at\(depth)", "toy.txt"]
      try scratch.write("toy", to: folders.joined(separator: "/"))
    }
    #expect(Set(ids()) == ["at1", "at2", "at3", "at4", "at5", "at6"])
    // What was not looked into is told.
    let told = finder.find(scratch.folder).unrecognized
    #expect(told.map(\.path) == [root.appending("d1/d2/d3/d4/d5/d6")])
    #expect(told.map(\.holds) == [["at7/"]])
  }

  @Test func `a capture is not searched further, a shelf is`() throws {
    try scratch.write("toy", to: "whole/toy.txt")
    try scratch.write("toy", to: "whole/inner/toy.txt")
    try scratch.write("toy", to: "shelf/a.toy")
    try scratch.write("toy", to: "shelf/b.toy")
    try scratch.write("toy", to: "shelf/inner/toy.txt")
    #expect(ids() == ["a", "b", "inner", "whole"])
  }

  @Test func `folders that hold no capture are told with what they hold`() throws {
    try scratch.write("toy", to: "date/user/scan/toy.txt")
    try scratch.write("x", to: "date/README.txt")
    try scratch.write("x", to: "date/user/scan/inner/notes.txt")
    try scratch.write("x", to: "other/movie.mkv")
    try scratch.write("x", to: "other/deeper/log.txt")
    try scratch.write("x", to: "empty/.hidden")
    let found = finder.find(scratch.folder)
    #expect(found.captures.map(\.id) == ["scan"])
    #expect(
      found.unrecognized == [
        UnrecognizedFolder(path: root.appending("other"), holds: ["movie.mkv", "deeper/"])
      ])
    #expect(found.failures.isEmpty)
  }

  @Test func `hidden folders, outputs and folders left out are not searched`() throws {
    try scratch.write("toy", to: ".trash/scan/toy.txt")
    try scratch.write("{}", to: "out/.scanmill/output.json")
    try scratch.write("toy", to: "out/scan/toy.txt")
    try scratch.write("toy", to: "kept/toy.txt")
    try scratch.write("toy", to: "leave/toy.txt")
    let leave = root.appending("leave")
    let finder = CaptureFinder(CaptureRegistry([Toys.self]), isLeftOut: { $0 == leave })
    let found = finder.find(scratch.folder)
    #expect(found.captures.map(\.id) == ["kept"])
    #expect(found.unrecognized.isEmpty)
  }

  @Test func `links are followed inside the tree, once each, and never out of it`() throws {
    try scratch.write("toy", to: "a/scan/toy.txt")
    try scratch.write("toy", to: ".store/kept/toy.txt")
    let outside = scratch.outer.appending("outside")
    try FileSystem.makeFolder(outside.appending("far"))
    try OutputFile.write([1], to: outside.appending("far").appending("toy.txt"))
    for (link, target) in [
      ("again", "a"), ("a/up", ".."), ("stored", ".store/kept"), ("out", outside.string),
      ("gone", "nowhere"),
    ] {
      #expect(symlink(target, scratch.folder.appending(link).string) == 0)
    }
    #expect(ids() == ["kept", "scan"])
  }

  @Test func `names that are not UTF-8 are found like any other`() throws {
    let odd = scratch.folder.appending(name: PathText.text(of: [0x63, 0xE9, 0xFF]))
    try FileSystem.makeFolder(odd)
    try OutputFile.write([1], to: odd.appending("toy.txt"))
    let stem = PathText.text(of: [0x80, 0x62])
    try OutputFile.write([1], to: scratch.folder.appending(name: stem + ".toy"))
    let found = finder.find(scratch.folder).captures
    #expect(Set(found.map { PathText.bytes(of: $0.id) }) == [[0x63, 0xE9, 0xFF], [0x80, 0x62]])
    #expect(found.contains { $0.folder == PathSafety.resolved(odd) })
  }

  @Test func `stems that look alike in another composition are two captures`() throws {
    try scratch.write("toy", to: "caf\u{E9}.toy")
    try scratch.write("toy", to: "cafe\u{301}.toy")
    #expect(ids().count == 2)
  }

  @Test func `a file belongs to the longest stem that its name begins with`() throws {
    for name in ["scan.toy", "scan2.toy"] { try scratch.write("toy", to: name) }
    #expect(ids(scratch.folder.appending("scan2.toy")) == ["scan2"])
  }

  @Test func `what is absent and what is no capture say which`() throws {
    let absent = finder.find(scratch.folder.appending("nowhere"))
    #expect(absent.failures.map(\.declined) == [absent.declined])
    #expect(absent.declined?.contains("no such file or folder") == true)
    #expect(finder.find(scratch.folder).declined?.contains("is empty") == true)
  }

  @Test(.enabled(if: Unprivileged.isPossible, "needs to give up being root"))
  func `what may not be read is told by its permission and is a failure`() throws {
    try scratch.write("toy", to: "open/toy.txt")
    try scratch.write("toy", to: "shut/toy.txt")
    try scratch.write("toy", to: "file/toy.txt")
    #expect(chmod(scratch.folder.appending("shut").string, 0) == 0)
    #expect(chmod(scratch.folder.appending("file/toy.txt").string, 0) == 0)
    let found = Unprivileged.run { finder.find(scratch.folder) }
    #expect(found.captures.map(\.id) == ["open"])
    #expect(found.failures.count == 2)
    for failure in found.failures {
      #expect(failure.declined?.contains("permission denied") == true)
    }
    let shut = Unprivileged.run { finder.find(scratch.folder.appending("shut")) }
    #expect(shut.declined?.contains("permission denied") == true)
  }
}

/// What a folder must hold to be a capture of a family: texts by name.
@Suite("Whose capture a folder is")
struct RecognitionTests {
  private static let header = "timestamp, frame, x, y, z, qx, qy, qz, qw\n"
  private static let motion = "timestamp, a_x, a_y, a_z, alpha_x, alpha_y, alpha_z\n"
  private static let threeDFrame = "{\n  \"time\" : 1.5,\n  \"cameraPoseARFrame\" : [\n    1,"
  private static let record3D =
    "{\"w\": 8, \"poses\": [[0, 0, 0, 1, 0, 0, 0]], \"K\": [1]}"

  struct Row: Sendable, CustomTestStringConvertible {
    var family: CaptureFamily
    var certainty: Recognition.Certainty?
    var files: [String: String]
    var testDescription: String { "\(family.rawValue): \(files)" }
  }

  private static func rows(
    _ family: CaptureFamily, certain: [[String: String]], possible: [[String: String]] = [],
    none: [[String: String]]
  ) -> [Row] {
    let all: [(Recognition.Certainty?, [[String: String]])] = [
      (.certain, certain), (.possible, possible), (nil, none),
    ]
    return all.flatMap { certainty, folders in
      folders.map { Row(family: family, certainty: certainty, files: $0) }
    }
  }

  // Certain by the header of the pose table, whatever lies beside it; possible by a folder of depth beside another
  // file of the app.
  static let strayScanner = rows(
    .strayScanner,
    certain: [
      ["odometry.csv": header],
      ["odometry.csv": "QW ; qz ; qy ; qx ; Frame\n"],
      ["odometry.csv": "\u{FEFF}" + header],
      ["odometry.csv": header, "imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["odometry.csv": header, "frame_metadata.csv": "frame_number,timestamp_ns\n"],
      ["odometry.csv": header, "._odometry.csv": "\0\u{5}\u{16}\u{7}", ".DS_Store": "\0\0\0\u{1}"],
      ["odometry.csv": header, "Thumbs.db": "x", "__MACOSX/._rgb.mp4": "x"],
    ],
    possible: [
      ["depth/000000.png": "", "rgb.mp4": ""], ["depth/000000.png": "", "camera_matrix.csv": ""],
      ["depth/000000.png": "", "imu.csv": motion],
      ["depth/000000.png": "", "rgb.mp4": "", "odometry.csv": "timestamp, frame, x, y"],
    ],
    none: [
      [:], ["imu.csv": motion], ["rgb.mp4": "", "camera_matrix.csv": ""],
      ["depth/000000.png": "", "imu.csv": "timestamp,ax,ay,az,gx,gy,gz\n"],
      ["odometry.csv": "timestamp, x, y, z, qx, qy, qz, qw\n"],
      ["__MACOSX/odometry.csv/._x": ""], ["._odometry.csv": header, "._rgb.mp4": ""],
    ])

  // Certain by a frame file with a pose, possible by depth and confidence side by side.
  static let threeDScannerApp = rows(
    .threeDScannerApp,
    certain: [
      ["frame_00000.json": threeDFrame],
      ["frame_00007.json": "{\"cameraPoseARFrame\":[]}"],
      ["frame_000123.json": "\u{FEFF}" + threeDFrame],
      ["frame_00000.json": "", "frame_00001.json": "{", "frame_00002.json": threeDFrame],
      [
        "frame_00000.json": threeDFrame, "info.json": "{}", "frame_00000.jpg": "", "export.obj": "",
      ],
      [
        "frame_00000.json": threeDFrame, "._frame_00000.json": "\0\u{5}\u{16}\u{7}",
        ".DS_Store": "\0",
      ],
      ["frame_00000.json": threeDFrame, "Thumbs.db": "x", "__MACOSX/._frame_00000.json": "x"],
    ],
    possible: [
      ["depth_00000.png": "", "conf_00000.png": ""],
      ["depth_00004.png": "", "conf_00009.png": "", "frame_00000.json": "{\"time\" : 1}"],
    ],
    none: [
      [:], ["frame_00000.jpg": "", "thumb_00000.jpg": ""], ["depth_00000.png": ""],
      ["frame_00000.json": "{\"time\" : 1}"], ["frame_0.json": threeDFrame],
      ["frame_0000x.json": threeDFrame],
      ["frame_00000.json": "[\"cameraPoseARFrame\"]"],
      ["frame_00000.json": "{\"a\" : {\"cameraPoseARFrame\" : []}}"],
      ["._frame_00000.json": threeDFrame], ["__MACOSX/frame_00000.json": threeDFrame],
      ["depth_00000.txt": "", "conf_00000.png": ""],
    ])

  static let record3DFolders = rows(
    .record3D,
    certain: [
      ["metadata": "", "rgbd/0.jpg": ""], ["rgbd/0.depth": ""], ["rgbd/12.depth": "", "icon": ""],
      [
        "metadata": record3D, "rgbd/0.jpg": "", "._metadata": "\0\u{5}\u{16}\u{7}",
        ".DS_Store": "x",
      ],
      ["metadata.json": record3D, "rgb/0.jpg": "", "__MACOSX/rgb/._0.jpg": ""],
      ["metadata.json": record3D, "depth/0.exr": "", "Thumbs.db": "x"],
      ["metadata.json": "{\"K\": [], \"poses\": [[", "depth/0.exr": ""],
    ],
    none: [
      [:], ["metadata": record3D], ["rgbd/0.jpg": ""], ["rgbd/._0.depth": ""],
      ["metadata.json": "{\"poses\": []}", "rgb/0.jpg": ""],
      ["metadata.json": "{\"a\": {\"K\": [], \"poses\": []}}", "rgb/0.jpg": ""],
      ["metadata.json": "{\"a\": [\"K\", \"poses\"]}", "rgb/0.jpg": ""],
      ["metadata.json": record3D], ["._metadata.json": record3D, "rgb/0.jpg": ""],
      ["__MACOSX/rgbd/0.depth": ""], ["2024-03-17--18-25-12.mp4": ""],
    ])

  // Certain by the header of a table, possible by rows of the app's own order; neither names nor other tables decide.
  static let vislam = rows(
    .vislam,
    certain: [
      ["imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["imu_data.csv": "# made by a recorder\ntimestamp_ns,sensor_type,x,y\n"],
      ["imu_data.csv": "timestamp,accel_x,accel_y,accel_z,gyro_x,gyro_y,gyro_z\n"],
      ["imu_data.csv": "\u{FEFF} X ; Sensor_Type ; TIMESTAMP_NS \n"],
      ["frame_metadata.csv": "frame_number,timestamp_ns,image_filename\n"],
      ["frame_metadata.csv": VISLAMTables.frameHeader, "imu_data.csv": ""],
    ],
    possible: [
      ["imu_data.csv": "1000,accelerometer,1,2,3\n"],
      ["frame_metadata.csv": "0,1000,0.0,0.0,4.25,320,180\n"],
    ],
    none: [
      [:], ["imu_data.csv": ""], ["imu_data.csv": "time,a,b,c\n"], ["imu_data.csv": "\0\u{1}\u{2}"],
      ["imu.csv": "timestamp,ax,ay,az,gx,gy,gz\n"], ["video.mp4": "ftyp"],
      ["imu_data.csv": "timestamp_ns,x,y,z\n"], ["frame_metadata.csv": "frame,timestamp_ns\n"],
      ["frame_metadata.csv": "frame_number,timestamp\n"],
      ["inner/imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["imu_data.csv.bak": "timestamp_ns,sensor_type,x,y,z\n"],
      // A folder in place of the table is no table.
      ["imu_data.csv/inner.csv": "timestamp_ns,sensor_type,x,y,z\n"],
    ])

  @Test(arguments: strayScanner + threeDScannerApp + record3DFolders + vislam)
  func `what decides is told with its certainty, in any order of the families`(_ row: Row) throws {
    let scratch = try ScratchCapture(named: "8f1e2d3c4b", row.files)
    let reversed = CaptureRegistry(CaptureRegistry.builtIn.readers.reversed())
    for registry in [.builtIn, reversed] {
      let found = registry.recognize(try FolderListing(of: scratch.folder))
      guard let certainty = row.certainty else {
        #expect(!found.contains { $0.family == row.family })
        continue
      }
      #expect(found.map(\.family) == [row.family])
      #expect(found.map(\.certainty) == [certainty])
      #expect(found.map(\.id) == ["8f1e2d3c4b"] && found.first?.isFile == false)
    }
  }
}
