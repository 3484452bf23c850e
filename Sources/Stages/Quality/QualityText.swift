import Processing

/// The verdict on a capture in words.
enum QualityText {
  /// `23 % of the pictures are blurred (limit 20 %)`.
  static func reason(
    _ finding: QualityVerdict.Finding, _ thresholds: QualityVerdict.Thresholds
  ) -> String {
    let limits = thresholds.limits[finding.subject]
    let limit = (finding.level == .poor ? limits?.poor : limits?.usable) ?? 0
    let (value, bound) = (finding.subject.text(finding.value), finding.subject.text(limit))
    return switch finding.subject {
    case .blurred: "\(value) of the pictures are blurred (limit \(bound))"
    case .clipped: "\(value) of the pictures are too dark or too bright (limit \(bound))"
    case .duplicates: "\(value) of the pictures repeat an earlier one (limit \(bound))"
    case .depthMissing: "\(value) of the depth is missing (limit \(bound))"
    case .depthDisagreement:
      "depth differs by \(value) from that of the frame before (limit \(bound))"
    case .rotationDisagreement:
      "poses and gyroscope differ by \(value) from frame to frame (limit \(bound))"
    }
  }
}
