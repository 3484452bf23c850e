/// Warnings that a reader must report of a Strabo capture.
enum TrackExpectation {
  /// - Parameter points: in file order, including stale ones.
  static func warnings(_ plan: TrackPlan, points: [TrackPoint]) -> WarningTally {
    var warnings = WarningTally()
    warnings.add("missing-file", plan.missingFiles.count)
    if plan.hasBadPaths { warnings.add("path-outside-capture", 3) }
    if plan.hasLargeThumbnail { warnings.add("size-mismatch") }
    warnings.add("unknown-key", plan.extraKeys.count)
    if plan.lacksMediaType { warnings.add("missing-key") }
    if plan.isBrokenJSON { return warnings }
    let read = plan.missingFiles.contains(.geodata) ? [] : points
    if read.isEmpty { warnings.add("geo-no-fix") }
    warnings.add("geo-unordered", zip(read.dropFirst(), read).count { $0.seconds < $1.seconds })
    let kept = read.dropFirst(plan.hasStalePoint ? 1 : 0)
    warnings.add("timestamps-duplicate", kept.count - Set(kept.map(\.seconds)).count)
    warnings.add("geo-no-fix", kept.count { !$0.hasFix })
    return warnings
  }
}
