import Processing

/// The verdict on a capture in words.
enum QualityText {
  /// `23 % of the pictures are blurred (limit 20 %)`.
  static func reason(
    _ finding: QualityVerdict.Finding, _ thresholds: QualityVerdict.Thresholds
  ) -> String {
    switch finding.lack {
    case .sharpness(let flat, let noisy, let all):
      let causes = [
        flat > 0 ? "\(flat) show too little" : nil,
        noisy > 0 ? "\(noisy) have too much noise" : nil,
      ].compactMap(\.self).joined(separator: ", ")
      return "unjudged: how sharp \(flat + noisy) of \(all) pictures are cannot be told (\(causes))"
    case .overlap(let pairs):
      return "unjudged: depth and poses do not fit together, or the camera is too fast: "
        + (pairs == 1
          ? "the one pair of neighboring frames does not see the same surfaces"
          : "none of \(pairs) pairs of neighboring frames sees the same surfaces")
    case nil: break
    }
    let limits = thresholds.limits[finding.subject]
    let limit = (finding.level == .poor ? limits?.poor : limits?.usable) ?? 0
    let (value, bound) = (finding.subject.text(finding.value ?? 0), finding.subject.text(limit))
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
