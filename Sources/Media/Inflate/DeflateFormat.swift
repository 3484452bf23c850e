/// The wrapper around DEFLATE data (RFC 1951).
public enum DeflateFormat: Sendable, Hashable {
  /// No header, no checksum.
  case raw
  /// RFC 1950: two bytes before, Adler-32 after.
  case zlib
  /// RFC 1952: a header before, CRC-32 and size after.
  case gzip

  /// zlib's `windowBits`: 15 for the full 32 KiB window, negative for raw, 16 more for gzip.
  var windowBits: Int32 {
    switch self {
    case .raw: -15
    case .zlib: 15
    case .gzip: 31
    }
  }
}
