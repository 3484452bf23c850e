import Geometry

/// Which depth pixels are thrown away before anything else sees the frame; by default none.
///
/// Every filter judges the frame as it was stored, so that their order does not matter; a pixel that
/// fails any of them becomes 0. Nothing else changes.
public struct DepthFilters: Hashable, Sendable {
  /// Least confidence that stays, on the scale of the recording (0…2 ARKit, 0…255 ARCore).
  public var minimumConfidence: Int?
  /// Millimeters. Largest change against the same pixel of the frame before that stays.
  public var maximumChange: Double?
  /// Millimeters, both ends included.
  public var range: ClosedRange<Double>?
  /// Thresholds of the flying-pixel filter.
  public var flyingPixels: FlyingPixels?

  public init(
    minimumConfidence: Int? = nil, maximumChange: Double? = nil,
    range: ClosedRange<Double>? = nil, flyingPixels: FlyingPixels? = nil
  ) {
    self.minimumConfidence = minimumConfidence
    self.maximumChange = maximumChange
    self.range = range
    self.flyingPixels = flyingPixels
  }

  /// Whether frames stay as they are.
  public var isEmpty: Bool { self == DepthFilters() }

  /// Writes to `output` what stays of `stored`.
  ///
  /// `confidence` belongs to the same frame and has the same size. `previous` is the frame before as it
  /// was stored; without one (the first frame, a lost one) nothing has changed. Cost: one pass for each
  /// filter that is on.
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
  /// A minimum confidence is asked for and the frame has none.
  case missingConfidence
  /// The confidence picture or the frame before has another size.
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
