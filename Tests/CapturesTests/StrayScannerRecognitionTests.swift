@testable import Captures
@testable import Core
import FoundationEssentials
@testable import Media
import SystemPackage
import TestSupport
import Testing

/// A Stray Scanner capture in the making.
final class StrayScannerScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "stray-scanner")

  /// What `expected.json` says on top of the other families.
  struct Input: Decodable {
    var input: String
    var colorIndex: [Int?]
  }

  static func folder(of fixture: FixtureCase) throws -> FilePath {
    fixture.folder.pushing(
      FilePath(try fixture.json(Input.self, from: "expected.json").input))
  }

  static func open(_ fixture: FixtureCase) throws -> Capture {
    try open(try folder(of: fixture))
  }

  struct NotRecognized: Error {}

  /// Opens a folder as whoever recognizes it.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
    guard let first = found.first, first.family == .strayScanner else { throw NotRecognized() }
    return try CaptureRegistry.builtIn.open(first)
  }

  convenience init(copyOf name: String) throws {
    guard let fixture = Self.cases.first(where: { $0.name == name }) else { throw NotRecognized() }
    try self.init(copyOf: try Self.folder(of: fixture))
  }

  func open() throws -> Capture { try Self.open(folder) }

  /// Replaces a table's text.
  func edit(_ name: String, _ change: (inout [String]) -> Void) throws {
    var lines = try text(of: name).split(separator: "\n").map(String.init)
    change(&lines)
    try write(lines.map { $0 + "\n" }.joined(), to: name)
  }

  /// Decodes a stream: digests by frame, and issues by code.
  static func decode<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, frames: Int
  ) throws -> (digests: [String?], issues: [WarningCode: Int]) {
    var digests = [String?](repeating: nil, count: frames)
    var issues: [WarningCode: Int] = [:]
    guard case .indexed(let source) = stream.access else { return (digests, issues) }
    for record in 0..<source.recordCount {
      var pixels: [Pixel] = []
      let outcome = try source.decode(record: record, into: &pixels)
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      if outcome.hasPicture, digests.indices.contains(record) {
        let bytes = pixels.flatMap { pixel in
          (0..<Pixel.bitWidth / 8).map { UInt8(truncatingIfNeeded: pixel >> (8 * $0)) }
        }
        digests[record] = Digest(of: bytes).hex
      }
    }
    return (digests, issues)
  }

  /// Warnings of opening and decoding as `code subject`, with counts.
  static func warnings(of capture: Capture) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for warning in capture.warnings {
      counts["\(warning.code.rawValue) \(warning.subject)", default: 0] += warning.count
    }
    if let depth = capture.depth.value {
      for (code, count) in try decode(depth, frames: 0).issues {
        counts["\(code.rawValue) depth", default: 0] += count
      }
    }
    if let confidence = capture.confidence.value {
      for (code, count) in try decode(confidence, frames: 0).issues {
        counts["\(code.rawValue) confidence", default: 0] += count
      }
    }
    return counts
  }

  func warnings() throws -> [String: Int] { try Self.warnings(of: try open()) }
}

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
