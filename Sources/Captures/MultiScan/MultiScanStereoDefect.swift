#if canImport(Glibc)
  import Glibc
#endif

/// The stereo mode's compressor takes a wrong piece for frames above 256 KiB: of such a frame only the
/// first 262,144 bytes are real, then the bytes 131,072…262,143 repeat to its end.
enum MultiScanStereoDefect {
  /// Bytes of a frame that are real.
  static let realBytes = 262_144
  private static let period = 131_072

  /// Whether the frame is longer than what can be real and repeats that way.
  static func isIn<Element: BitwiseCopyable>(_ frame: [Element]) -> Bool {
    frame.withUnsafeBytes { bytes in
      guard bytes.count > realBytes, let start = bytes.baseAddress else { return false }
      // Each byte equals the one a period before it; the two ranges overlap, which memcmp may.
      return memcmp(start + realBytes, start + realBytes - period, bytes.count - realBytes) == 0
    }
  }
}
