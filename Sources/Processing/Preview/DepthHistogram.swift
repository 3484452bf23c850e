import Core

/// How many pixels of some depth pictures have each depth. Holes, which are 0, are not measurements.
package struct DepthHistogram: Sendable {
  /// What one picture holds. Distances are millimeters, `nil` without any measurement.
  package struct Picture: Sendable {
    package var measured: Int
    package var nearest: Int?
    package var farthest: Int?
  }

  /// Pixels by millimeters, 65,536 of them; the first is always 0.
  private(set) package var counts = [Int](repeating: 0, count: 65_536)
  /// Sum of `counts`.
  private(set) package var measured = 0

  package init() {}

  /// Cost: one pass over the pixels.
  @discardableResult package mutating func add(_ picture: DepthImage) -> Picture {
    var holes = 0
    var (nearest, farthest) = (UInt16.max, UInt16.min)
    for value in picture.millimeters {
      counts[Int(value)] += 1
      if value == 0 {
        holes += 1
      } else {
        nearest = min(nearest, value)
        farthest = max(farthest, value)
      }
    }
    counts[0] = 0
    let count = picture.millimeters.count - holes
    measured += count
    return Picture(
      measured: count, nearest: count == 0 ? nil : Int(nearest),
      farthest: count == 0 ? nil : Int(farthest))
  }

  /// The depth in millimeters below which `share`, 0 to 1, of the measurements lie; `nil` without
  /// any.
  package func millimeters(atShare share: Double) -> Int? {
    guard measured > 0 else { return nil }
    var rest = Int(Double(measured) * min(max(share, 0), 1))
    for (value, count) in counts.enumerated() where count > 0 {
      rest -= count
      if rest < 0 { return value }
    }
    return counts.lastIndex { $0 > 0 }
  }
}
