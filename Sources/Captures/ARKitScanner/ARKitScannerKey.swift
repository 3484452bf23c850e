import Core

/// The key of a side file's entry, converted to a time on the capture's clock.
///
/// Keys are ordered as numbers: `99999.9` before `100000.1`.
struct ARKitScannerKey: Hashable, Comparable, Sendable {
  let number: Double
  let timestamp: Timestamp

  /// From decimal seconds. `nil` when the text is not a decimal number or beyond the range of a
  /// time.
  init?(time text: String) {
    guard let timestamp = Timestamp(decimalSeconds: text), let number = Double(text) else {
      return nil
    }
    self.number = number
    self.timestamp = timestamp
  }

  /// From a frame number: frame k is at k/60 s. `nil` unless it is a whole number from 0 to the
  /// length of a recording of two years.
  init?(frameNumber text: String) {
    guard Self.isFrameNumber(text), let k = Int64(text), k < 1 << 32 else { return nil }
    number = Double(k)
    // Thirds are never halfway: adding one half and truncating rounds to nearest.
    timestamp = Timestamp(nanoseconds: (k * 100_000_000 + 3) / 6)
  }

  /// The frame number at whose nominal time a key lies.
  static func frameNumber(at time: Timestamp) -> Int {
    Int((Double(time.nanoseconds) * 60 / 1e9).rounded())
  }

  /// Whether the text has digits only. No time has this form, since the app prints `5.0` for a
  /// whole second.
  static func isFrameNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  static func < (a: ARKitScannerKey, b: ARKitScannerKey) -> Bool {
    (a.number, a.timestamp) < (b.number, b.timestamp)
  }
}
