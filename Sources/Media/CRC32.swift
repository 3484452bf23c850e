import CDeflate

/// The CRC-32 of zlib, PNG and MCAP, computed incrementally (libdeflate).
public struct CRC32: Hashable, Sendable {
  /// Checksum of all bytes so far; 0 for no bytes.
  public private(set) var value: UInt32 = 0

  public init() {}

  /// Cost: about a tenth of copying the bytes.
  public mutating func update(_ bytes: [UInt8]) {
    value = bytes.withUnsafeBytes { libdeflate_crc32(value, $0.baseAddress, $0.count) }
  }
}
