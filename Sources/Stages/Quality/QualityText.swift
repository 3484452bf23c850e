import Processing

/// The verdict on a capture in words.
enum QualityText {
  /// What the number of a subject is.
  static func meaning(_ subject: QualityVerdict.Subject) -> String {
    switch subject {
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

  /// `23 % of the pictures are blurred (limit 20 %)`.
  static func reason(
    _ finding: QualityVerdict.Finding, _ thresholds: QualityVerdict.Thresholds
  ) -> String {
    let limits = thresholds.limits[finding.subject]
    let limit = (finding.level == .poor ? limits?.poor : limits?.usable) ?? 0
    let (value, bound) = (finding.value, limit)
    return switch finding.subject {
    case .blurred: "\(percent(value)) of the pictures are blurred (limit \(percent(bound)))"
    case .clipped:
      "\(percent(value)) of the pictures are too dark or too bright (limit \(percent(bound)))"
    case .duplicates:
      "\(percent(value)) of the pictures repeat an earlier one (limit \(percent(bound)))"
    case .depthMissing: "\(percent(value)) of the depth is missing (limit \(percent(bound)))"
    case .depthDisagreement:
      "depth differs by \(number(value)) ‰ from that of the frame before (limit \(number(bound)) ‰)"
    case .rotationDisagreement:
      "poses and gyroscope differ by \(number(value))° from frame to frame (limit \(number(bound))°)"
    }
  }

  private static func percent(_ share: Double) -> String { number(share * 100) + " %" }

  /// At most two decimals.
  private static func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
  }
}
