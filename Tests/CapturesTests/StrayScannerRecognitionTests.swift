@testable import Captures
import SystemPackage
import Testing

@Suite("Stray Scanner: recognition")
struct StrayScannerRecognitionTests {
  private static let header = "timestamp, frame, x, y, z, qx, qy, qz, qw\n"
  private static let motion = "timestamp, a_x, a_y, a_z, alpha_x, alpha_y, alpha_z\n"

  private func recognize(_ files: [String: String]) throws -> [Recognition] {
    let scratch = try ScratchCapture(named: "8f1e2d3c4b")
    for (name, text) in files { try scratch.write(text, to: name) }
    return CaptureRegistry.builtIn.recognize(try FolderListing(of: scratch.folder))
  }

  @Test(
    "The header of the pose table is certain, whatever lies beside it",
    arguments: [
      ["odometry.csv": header],
      ["odometry.csv": "QW ; qz ; qy ; qx ; Frame\n"],
      ["odometry.csv": "\u{FEFF}" + header],
      ["odometry.csv": header, "imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["odometry.csv": header, "frame_metadata.csv": "frame_number,timestamp_ns\n"],
      ["odometry.csv": header, "._odometry.csv": "\0\u{5}\u{16}\u{7}", ".DS_Store": "\0\0\0\u{1}"],
      ["odometry.csv": header, "Thumbs.db": "x", "__MACOSX/._rgb.mp4": "x"],
    ])
  func certain(files: [String: String]) throws {
    let found = try recognize(files)
    #expect(found.map(\.family) == [.strayScanner])
    #expect(found.first?.certainty == .certain)
    #expect(found.first?.id == "8f1e2d3c4b")
  }

  @Test(
    "A folder of depth beside another file of the app is possible",
    arguments: [
      ["depth/000000.png": "", "rgb.mp4": ""], ["depth/000000.png": "", "camera_matrix.csv": ""],
      ["depth/000000.png": "", "imu.csv": motion],
      ["depth/000000.png": "", "rgb.mp4": "", "odometry.csv": "timestamp, frame, x, y"],
    ])
  func possible(files: [String: String]) throws {
    let found = try recognize(files)
    #expect(found.map(\.family) == [.strayScanner])
    #expect(found.first?.certainty == .possible)
  }

  @Test(
    "Nothing else is one",
    arguments: [
      [:], ["imu.csv": motion], ["rgb.mp4": "", "camera_matrix.csv": ""],
      ["depth/000000.png": "", "imu.csv": "timestamp,ax,ay,az,gx,gy,gz\n"],
      ["odometry.csv": "timestamp, x, y, z, qx, qy, qz, qw\n"],
      ["__MACOSX/odometry.csv/._x": ""], ["._odometry.csv": header, "._rgb.mp4": ""],
    ])
  func none(files: [String: String]) throws {
    #expect(try recognize(files).filter { $0.family == .strayScanner }.isEmpty)
  }

  @Test("The order of registration does not matter")
  func order() throws {
    let reversed = CaptureRegistry(Array(CaptureRegistry.builtIn.readers.reversed()))
    let scratch = try ScratchCapture(named: "8f1e2d3c4b")
    try scratch.write(Self.header, to: "odometry.csv")
    try scratch.write(Self.motion, to: "imu.csv")
    try scratch.write("timestamp_ns,sensor_type,x,y,z\n", to: "imu_data.csv")
    try scratch.write("", to: "depth/000000.png")
    let listing = try FolderListing(of: scratch.folder)
    #expect(reversed.recognize(listing) == CaptureRegistry.builtIn.recognize(listing))
    #expect(reversed.recognize(listing).map(\.family) == [.strayScanner])
  }
}
