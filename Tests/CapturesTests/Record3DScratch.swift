@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport

/// A recording in the making: unpacked, or as an archive of the same files.
final class Record3DScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "record3d")

  struct NotRecognized: Error {}

  static func path(of fixture: FixtureCase) throws -> FilePath {
    fixture.folder.pushing(
      FilePath(try fixture.json(StrayScannerScratch.Input.self, from: "expected.json").input))
  }

  /// Opens a folder or file as whoever recognizes it.
  static func open(_ path: FilePath) throws -> Capture {
    let found = CaptureFinder(.builtIn).find(path).captures
    guard let first = found.first, first.family == .record3D else { throw NotRecognized() }
    return try CaptureRegistry.builtIn.open(first)
  }

  static func open(_ fixture: FixtureCase) throws -> Capture { try open(try path(of: fixture)) }

  /// Warnings of opening and decoding as `code subject`, with counts.
  static func warnings(of capture: Capture) throws -> [String: Int] {
    let scan = try StreamScan(capture, budget: CoreBudget(cores: 2))
    var counts: [String: Int] = [:]
    for warning in capture.warnings + scan.warnings {
      counts["\(warning.code.rawValue) \(warning.subject)", default: 0] += warning.count
    }
    return counts
  }

  // MARK: A recording of its own

  static let (width, height) = (4, 6)

  /// An LZFSE stream of one raw block.
  static func stream(_ bytes: [UInt8]) -> [UInt8] {
    Array("bvx-".utf8) + ScratchZIP.number(bytes.count, 4) + bytes + Array("bvx$".utf8)
  }

  static func depth(_ meters: Float, _ count: Int = width * height) -> [UInt8] {
    [Float](repeating: meters, count: count).withUnsafeBytes { [UInt8]($0) }
  }

  static func jpeg(_ width: Int = 8, _ height: Int = 12) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: 90)
    var file: [UInt8] = []
    let pixels = (0..<3 * width * height).map { UInt8(truncatingIfNeeded: 7 * $0) }
    try writer.encode(rgb: pixels, width: width, height: height, into: &file)
    return file
  }

  /// The metadata of `frames` frames, members replaced by `changes`; `nil` leaves one out.
  static func metadata(_ frames: Int = 4, _ changes: [String: String?] = [:]) -> String {
    let poses = (0..<frames).map { "[0, 0.6, 0, 0.8, \(Double($0) / 1000), 0.5, 0]" }
    let times = (0..<frames).map {
      $0 == 0 ? "0" : "0.\(String(1_000_000_000 + 16_666_667 * $0).dropFirst())"
    }
    let cameras = (0..<frames).map { "[\(7 + $0), 7.5, 3.5, 5.5]" }
    var members: [(String, String)] = [
      ("w", "8"), ("h", "12"), ("dw", "4"), ("dh", "6"), ("fps", "60"), ("cameraType", "1"),
      ("K", "[7, 0, 0, 0, 7.5, 0, 3.5, 5.5, 1]"),
      ("poses", "[\(poses.joined(separator: ", "))]"),
      ("frameTimestamps", "[\(times.joined(separator: ", "))]"),
      ("perFrameIntrinsicCoeffs", "[\(cameras.joined(separator: ", "))]"),
      ("initPose", "[0, 0, 0, 1, 0, 0, 0]"), ("unknown", "{\"a\": [null]}"),
    ]
    for (key, value) in changes {
      members.removeAll { $0.0 == key }
      if let value { members.append((key, value)) }
    }
    return "{" + members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
  }

  /// The files of a whole recording of four frames.
  static func files() throws -> [(name: String, bytes: [UInt8])] {
    var files: [(name: String, bytes: [UInt8])] = [("metadata", Array(metadata().utf8))]
    for frame in 0..<4 {
      files.append(("rgbd/\(frame).jpg", try jpeg()))
      files.append(("rgbd/\(frame).depth", stream(depth(Float(1 + frame)))))
      files.append(("rgbd/\(frame).conf", stream([UInt8](repeating: 2, count: width * height))))
    }
    return files
  }

  /// Unpacked, in a folder.
  convenience init() throws {
    try self.init(named: "2024-03-17--18-25-12")
    for file in try Self.files() { try write(file.bytes, to: file.name) }
  }

  /// Packs the folder's files, in the order of `Record3DScratch.files`, then what was added.
  func archive(_ change: (inout ScratchZIP) -> Void = { _ in }) throws -> FilePath {
    var names = try Self.files().map(\.name)
    names += try FileManager.default.subpathsOfDirectory(atPath: folder.string).sorted().filter {
      !names.contains($0)
    }
    var zip = ScratchZIP(
      try names.compactMap { name in
        guard FileManager.default.fileExists(atPath: folder.string + "/" + name),
          !FileSystem.isFolder(folder.pushing(FilePath(name)))
        else { return nil }
        return ScratchZIP.Entry(name, try bytes(of: name), isDeflated: name.hasSuffix("conf"))
      })
    change(&zip)
    let path = outer.appending("2024-03-17--18-25-12.r3d")
    try Data(try zip.make().bytes).write(to: URL(filePath: path.string))
    return path
  }

  func open() throws -> Capture { try Self.open(folder) }
}
