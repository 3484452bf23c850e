import Core

/// Filters that discard depth pixels before any other step; by default none is on.
///
/// Every filter tests the frame as stored, so that their order does not matter. A pixel that fails
/// any of them becomes 0. Other pixels do not change.
public struct DepthFilters: Hashable, Sendable {
  /// Least confidence to keep, on the scale of the recording (0…2 ARKit, 0…255 ARCore).
  public var minimumConfidence: Int?
  /// Largest difference to the same pixel of the previous frame to keep, millimeters.
  var maximumChange: Double?
  /// Depths to keep, millimeters, both ends included.
  public var range: ClosedRange<Double>?
  /// Thresholds of the flying-pixel filter.
  var flyingPixels: FlyingPixels?

  public init(
    minimumConfidence: Int? = nil, maximumChange: Double? = nil,
    range: ClosedRange<Double>? = nil, flyingPixels: FlyingPixels? = nil
  ) {
    self.minimumConfidence = minimumConfidence
    self.maximumChange = maximumChange
    self.range = range
    self.flyingPixels = flyingPixels
  }

  /// Whether no filter is on.
  public var isEmpty: Bool { self == DepthFilters() }

  /// Writes the filtered `stored` to `output`.
  ///
  /// `confidence` belongs to the same frame and has the same size. `previous` is the previous frame
  /// as stored; without one (the first frame, or a lost one) no pixel counts as changed. Cost: one
  /// pass for each filter that is on.
  public func apply(
    to stored: DepthImage, confidence: GrayImage?, previous: DepthImage?,
    into output: inout DepthImage
  ) throws(DepthFilterError) {
    output = stored
    if let minimumConfidence {
      guard let confidence else { throw .missingConfidence }
      try Self.removeUncertain(stored, confidence, below: minimumConfidence, from: &output)
    }
    if let range { Self.removeOutside(range, stored, from: &output) }
    if let maximumChange, let previous {
      try Self.removeChanged(stored, since: previous, by: maximumChange, from: &output)
    }
    flyingPixels?.remove(stored, from: &output)
  }
}

/// Why frames cannot be filtered.
public enum DepthFilterError: Error, Hashable, CustomStringConvertible {
  /// A minimum confidence is set and the frame has no confidence.
  case missingConfidence
  /// The confidence picture or the previous frame has another size.
  case sizeMismatch(depth: PictureSize, other: PictureSize)

  public var description: String {
    switch self {
    case .missingConfidence:
      "the frame has no confidence: leave out the minimum confidence"
    case .sizeMismatch(let depth, let other):
      "size-mismatch: the depth frame has \(depth) pixels, the picture to judge it by \(other)"
    }
  }
}

extension DepthFilters {
  /// Removes pixels whose confidence is below `minimum`.
  static func removeUncertain(
    _ stored: DepthImage, _ confidence: GrayImage, below minimum: Int,
    from output: inout DepthImage
  ) throws(DepthFilterError) {
    try check(stored, confidence.size)
    for index in stored.millimeters.indices where Int(confidence.values[index]) < minimum {
      output.millimeters[index] = 0
    }
  }

  /// Removes pixels outside a closed range of millimeters.
  static func removeOutside(
    _ range: ClosedRange<Double>, _ stored: DepthImage, from output: inout DepthImage
  ) {
    for (index, z) in stored.millimeters.enumerated() where !range.contains(Double(z)) {
      output.millimeters[index] = 0
    }
  }

  /// Removes pixels that differ from the previous frame by more than `limit` millimeters. A pixel
  /// without a previous measurement is kept.
  static func removeChanged(
    _ stored: DepthImage, since previous: DepthImage, by limit: Double,
    from output: inout DepthImage
  ) throws(DepthFilterError) {
    try check(stored, previous.size)
    for index in stored.millimeters.indices {
      let before = previous.millimeters[index]
      guard before != 0 else { continue }
      let change = abs(Int(stored.millimeters[index]) - Int(before))
      if Double(change) > limit { output.millimeters[index] = 0 }
    }
  }

  private static func check(
    _ stored: DepthImage, _ other: PictureSize
  ) throws(DepthFilterError) {
    guard stored.size == other else { throw .sizeMismatch(depth: stored.size, other: other) }
  }
}

/// Removes measurements that lie in the air between two surfaces.
///
/// At an outline a pixel of a time-of-flight or lidar sensor covers the near and the far surface at
/// once and reports a depth between: a flying (or mixed) pixel. A pixel is removed if, horizontally
/// or vertically, one opposite neighbor is nearer and the other farther, each by more than
/// `absolute + relative · the nearer of the two depths`, the rule by which a mesh is cut. Pixels of
/// slanted surfaces are close to their neighbors, and pixels of thin objects and holes are nearer
/// or farther than both: they stay.
///
/// An axis with a missing neighbor is not tested. If an outline is smeared over several pixels,
/// each is tested against its own neighbors.
public struct FlyingPixels: Hashable, Sendable {
  /// Millimeters.
  var absolute: Double
  /// Fraction of the nearer depth.
  var relative: Double

  /// The defaults are those of the discontinuity rule of alignment.
  public init(absolute: Double = 10, relative: Double = 0.05) {
    self.absolute = absolute
    self.relative = relative
  }

  /// Cost: one pass. Neighbors are read from `stored`, so the order of pixels does not matter.
  func remove(_ stored: DepthImage, from output: inout DepthImage) {
    let width = stored.width
    let z = stored.millimeters
    for y in 0..<stored.height {
      for x in 0..<width {
        let at = y * width + x
        guard z[at] != 0 else { continue }
        let flies =
          x > 0 && x + 1 < width && isBetween(z[at - 1], z[at], z[at + 1])
          || y > 0 && y + 1 < stored.height && isBetween(z[at - width], z[at], z[at + width])
        if flies { output.millimeters[at] = 0 }
      }
    }
  }

  private func isBetween(_ a: UInt16, _ z: UInt16, _ b: UInt16) -> Bool {
    let (near, far) = a < b ? (a, b) : (b, a)
    return near != 0 && near < z && z < far && isStep(near, z) && isStep(z, far)
  }

  private func isStep(_ near: UInt16, _ far: UInt16) -> Bool {
    Double(far - near) > absolute + relative * Double(near)
  }
}
