@testable import Captures
@testable import Core
import TestSupport
import Testing

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
