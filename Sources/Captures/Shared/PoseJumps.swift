import Core

/// Counts steps between poses that are impossible for a hand-held device: tracking was lost and
/// resumed elsewhere.
enum PoseJumps {
  /// Limit in meters per second between neighboring poses.
  static let maximumSpeed = 10.0
  /// Assumed seconds between neighboring poses if a time is missing: one camera frame.
  static let assumedStep = 1.0 / 60

  /// Number of steps between rows that are faster than `maximumSpeed`. `times[i]` belongs to
  /// `rows[i]`. A move between equal times counts.
  static func count(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices.dropFirst(), rows.indices).count { next, previous in
      var seconds = assumedStep
      if let from = times[previous], let to = times[next] { seconds = Double(to - from) / 1e9 }
      let distance = zip(rows[next].pose.position, rows[previous].pose.position)
        .reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
      return distance > maximumSpeed * max(seconds, 0)
    }
  }

  /// Counts only steps between two different times, in either direction: equal and missing times have no speed, and are
  /// reported by themselves.
  static func countTimed(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      guard let from = times[before], let to = times[after], from != to else { return false }
      let squares = zip(rows[before].pose.position, rows[after].pose.position)
        .map { ($1 - $0) * ($1 - $0) }
      let seconds = abs(Double(to - from)) / 1e9
      return squares.reduce(0, +).squareRoot() / seconds > maximumSpeed
    }
  }
}
