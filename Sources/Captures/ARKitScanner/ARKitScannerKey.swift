import Geometry

/// The key of an entry of a side file, brought to the capture's clock.
///
/// Keys sort as numbers: `99999.9` before `100000.1`.
struct ARKitScannerKey: Hashable, Comparable, Sendable {
  let number: Double
  let timestamp: Timestamp

  /// Frames per second of the nominal clock of recordings whose keys are frame numbers.
  static let nominalRate = 60

  /// Decimal seconds. `nil` when the text is no decimal number or beyond the range of a time.
  init?(time text: String) {
    guard let timestamp = Timestamp(decimalSeconds: text), let number = Double(text) else {
      return nil
    }
    self.number = number
    self.timestamp = timestamp
  }

  /// A frame number: k is at k/60 s. `nil` unless it is a whole number from 0 that a recording of
  /// two years does not exceed.
  init?(frameNumber text: String) {
    guard Self.isFrameNumber(text), let k = Int64(text), k < 1 << 32 else { return nil }
    number = Double(k)
    // Thirds never fall on a half: adding one half and cutting rounds to the nearest.
    timestamp = Timestamp(nanoseconds: (k * 100_000_000 + 3) / 6)
  }

  /// Digits only: no time is written that way, since the app prints `5.0` for a whole second.
  static func isFrameNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  static func < (a: ARKitScannerKey, b: ARKitScannerKey) -> Bool {
    (a.number, a.timestamp) < (b.number, b.timestamp)
  }
}
