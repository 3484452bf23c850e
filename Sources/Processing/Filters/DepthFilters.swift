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
public enum DepthFilterError: Error, Hashable, Sendable, CustomStringConvertible {
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
