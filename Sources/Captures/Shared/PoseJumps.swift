import Geometry

/// Steps between poses that no hand-held device makes: tracking was lost and found elsewhere.
enum PoseJumps {
  /// Meters per second between neighboring poses.
  static let maximumSpeed = 10.0
  /// Seconds between neighboring poses where a time is missing: one camera frame.
  static let assumedStep = 1.0 / 60

  /// How many steps from one row to the next are faster than `maximumSpeed`. `times[i]` belongs to
  /// `rows[i]`. A move in no time at all counts.
  static func count(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices.dropFirst(), rows.indices).count { next, previous in
      var seconds = assumedStep
      if let from = times[previous], let to = times[next] { seconds = Double(to - from) / 1e9 }
      let distance = zip(rows[next].pose.position, rows[previous].pose.position)
        .reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
      return distance > maximumSpeed * max(seconds, 0)
    }
  }
}
