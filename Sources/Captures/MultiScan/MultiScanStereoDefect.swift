#if canImport(Glibc)
  import Glibc
#endif

/// A defect of the stereo mode's compressor: of a frame above 256 KiB only the first 262,144 bytes
/// are valid, after which the bytes 131,072…262,143 repeat to its end.
enum MultiScanStereoDefect {
  /// Number of valid bytes of a frame.
  static let realBytes = 262_144
  private static let period = 131_072

  /// Whether the frame is longer than the valid part and repeats that way.
  static func isIn<Element: BitwiseCopyable>(_ frame: [Element]) -> Bool {
    frame.withUnsafeBytes { bytes in
      guard bytes.count > realBytes, let start = bytes.baseAddress else { return false }
      // Each byte equals the one a period before it. The two ranges overlap, which memcmp allows.
      return memcmp(start + realBytes, start + realBytes - period, bytes.count - realBytes) == 0
    }
  }
}
