/// Colors for depth with even steps in lightness, also for color-blind readers and in gray print:
/// viridis (S. van der Walt, N. Smith, 2015; CC0), near dark, far bright, interpolated between 17
/// of its 256 colors.
package enum Viridis {
  private static let anchors: [UInt32] = [
    0x440154, 0x481467, 0x482576, 0x453781, 0x404688, 0x39558C, 0x33638D, 0x2D718E, 0x287D8E,
    0x238A8D, 0x1F968B, 0x29AF7F, 0x3CBB75, 0x73D055, 0x95D840, 0xB8DE29, 0xFDE725,
  ]

  /// The color at a fraction of the range; clamped outside.
  package static func rgb(_ share: Double) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let last = anchors.count - 1
    let place = (share.isFinite ? min(max(share, 0), 1) : 0) * Double(last)
    let index = min(Int(place), last - 1)
    let part = place - Double(index)
    func channel(_ shift: UInt32) -> UInt8 {
      let a = Double((anchors[index] >> shift) & 0xFF)
      let b = Double((anchors[index + 1] >> shift) & 0xFF)
      return UInt8((a + (b - a) * part).rounded())
    }
    return (channel(16), channel(8), channel(0))
  }

  /// `#440154`.
  package static func hex(_ share: Double) -> String {
    let color = rgb(share)
    let value = Int(color.red) << 16 | Int(color.green) << 8 | Int(color.blue)
    let digits = String(value, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }
}
