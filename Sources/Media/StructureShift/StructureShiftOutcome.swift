/// The outcome of decoding a payload.
public enum StructureShiftOutcome: Hashable, Sendable {
  /// Every pixel was decoded; the codes took `bytesUsed` bytes, including padding of the last one.
  case decoded(bytesUsed: Int)
  case corrupt(StructureShiftDamage)
}

/// Why a payload is not a valid frame, and where.
public struct StructureShiftDamage: Error, Hashable, Sendable, CustomStringConvertible {
  enum Reason: Hashable, Sendable {
    /// The payload ends inside or before a code that is still needed.
    case endsEarly
    /// A run of equal pixels extends beyond the last pixel.
    case runPassesEnd
    /// All pixels were decoded, but bytes remain.
    case bytesLeft
  }

  var reason: Reason
  /// Number of pixels decoded before the damage.
  var pixel: Int
  /// Offset in bits from the start of the payload to the code concerned (or to the end of the
  /// codes).
  var bitOffset: Int

  public var description: String {
    let place = "(pixel \(pixel), bit \(bitOffset) of the compressed frame)"
    return switch reason {
    case .endsEarly: "the depth frame is cut short \(place)"
    case .runPassesEnd: "the depth frame is damaged: it has more pixels than its size \(place)"
    case .bytesLeft: "the depth frame is damaged: bytes are left after its last pixel \(place)"
    }
  }
}
