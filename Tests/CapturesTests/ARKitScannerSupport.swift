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

/// A capture in the making.
final class ARKitScannerFolder: ScratchCapture {
  var path: FilePath { folder }

  convenience init() throws { try self.init(named: "capture") }

  func open() throws -> Capture { try ARKitScannerSupport.open(folder) }
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
