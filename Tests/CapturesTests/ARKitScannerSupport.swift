@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport

/// A capture in the making.
final class ARKitScannerFolder: ScratchCapture {
  var path: FilePath { folder }

  convenience init() throws { try self.init(named: "capture") }
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
    pixels.littleEndianBytes
  }

  /// Float32 meters of the same picture.
  static func meters(_ pixels: [UInt16]) -> [UInt8] {
    pixels.map { (Float($0) / 1000).bitPattern }.littleEndianBytes
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
