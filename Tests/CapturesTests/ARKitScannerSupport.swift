@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport

enum ARKitScannerSupport {
  static let cases = Fixtures.cases(of: "arkit-scanner")

  static func fixture(_ name: String) -> FixtureCase? { cases.first { $0.name == name } }

  /// Recognizes and opens the one capture of a folder.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = ARKitScannerReader.recognize(try FolderListing(of: folder))
    guard let recognition = found.first, found.count == 1 else {
      throw CaptureError(file: folder, problem: "\(found.count) captures")
    }
    return try ARKitScannerReader.open(recognition)
  }

  /// What decoding every depth record says.
  struct Scan {
    /// By canonical frame; `nil` for a hole.
    var digests: [String?] = []
    var tally = OutcomeTally(subject: "depth")
  }

  static func scan(_ depth: DepthStream, frames: Int) throws -> Scan {
    var scan = Scan()
    var pixels: [UInt16] = []
    func take(_ outcome: RecordOutcome) {
      scan.tally.add(outcome)
      scan.digests.append(outcome.hasPicture ? digest(pixels) : nil)
    }
    switch depth.access {
    case .indexed(let source):
      for record in 0..<source.recordCount {
        take(try source.decode(record: record, into: &pixels))
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      while let outcome = try reader.next(into: &pixels) { take(outcome) }
    }
    while scan.digests.count < frames { scan.digests.append(nil) }
    return scan
  }

  /// SHA-256 of the little-endian pixels.
  static func digest(_ pixels: [UInt16]) -> String {
    Digest(
      of: pixels.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    )
    .hex
  }
}

/// A folder that is removed when the value goes.
final class ARKitScannerFolder {
  private let place: TemporaryFolder
  let path: FilePath

  /// `name`: of the folder itself, inside a new folder of its own.
  init(named name: String = "capture") throws {
    place = try TemporaryFolder()
    path = place.path.appending(name)
    try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
  }

  /// A copy of a fixture's capture.
  convenience init(copying fixture: FixtureCase) throws {
    try self.init(copying: fixture.capture)
  }

  /// A copy of the files of a folder.
  convenience init(copying folder: FilePath) throws {
    try self.init()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.string) {
      try write(Data(contentsOf: URL(filePath: folder.appending(name).string)), to: name)
    }
  }

  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path.appending(name).string))
  }

  func write(_ text: String, to name: String) throws {
    try write(text.utf8, to: name)
  }

  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path.appending(name).string)))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path.appending(name).string)
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path.string)) ?? []).sorted()
  }

  func open() throws -> Capture { try ARKitScannerSupport.open(path) }
}

/// Depth records and files made here.
enum ARKitScannerDepth {
  static let width = 256
  static let height = 192

  /// Millimeters of picture `index`, every pixel another.
  static func picture(_ index: Int) -> [UInt16] {
    (0..<width * height).map { UInt16(truncatingIfNeeded: 800 + index * 3 + $0 % 251 + $0 / 997) }
  }

  static func bytes(_ pixels: [UInt16]) -> [UInt8] {
    pixels.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  /// Float32 meters of the same picture.
  static func meters(_ pixels: [UInt16]) -> [UInt8] {
    pixels.flatMap { pixel in
      withUnsafeBytes(of: (Float(pixel) / 1000).bitPattern.littleEndian) { [UInt8]($0) }
    }
  }

  static func lz4(_ pixels: [UInt16]) -> [UInt8] {
    let raw = bytes(pixels)
    return LZ4Block.encode(raw.span.bytes) ?? []
  }

  static func deflate(_ pixels: [UInt16]) throws -> [UInt8] {
    try DeflateEncoder.compress(meters(pixels), format: .raw, level: 1)
  }

  /// A record: its length and its bytes.
  static func framed(_ payload: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: Int32(payload.count).littleEndian) { [UInt8]($0) } + payload
  }
}
