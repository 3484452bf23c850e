extension QualityVerdict.Subject {
  /// Meaning of the subject's number.
  public var meaning: String {
    switch self {
    case .blurred: "the part of the pictures that are blurred"
    case .clipped: "the part of the pictures that are clipped"
    case .duplicates: "the part of the pictures that repeat an earlier one"
    case .depthMissing: "the part of the pixels without depth, median of the frames"
    case .depthDisagreement:
      "by how many thousandths depth differs from that of the frame before, median of the frames"
    case .rotationDisagreement:
      "by how many degrees poses and gyroscope differ from frame to frame, median of the frames"
    }
  }

  /// The number with its unit, at most two decimals: `23 %`, `4.1 ‰`, `0.2°`.
  public func text(_ value: Double) -> String {
    switch self {
    case .blurred, .clipped, .duplicates, .depthMissing: Self.number(value * 100) + " %"
    case .depthDisagreement: Self.number(value) + " ‰"
    case .rotationDisagreement: Self.number(value) + "°"
    }
  }

  private static func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
  }
}
