import Geometry

extension MultiScan {
  /// Meters per second that no hand reaches: tracking was lost and found again elsewhere.
  private static let fastest = 10.0

  /// Steps between neighboring rows that are faster than `fastest`. `times[i]` belongs to `rows[i]`; a
  /// step without two different times has no speed.
  static func poseJumps(_ rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      guard let from = times[before], let to = times[after], from != to else { return false }
      let squares = zip(rows[before].pose.position, rows[after].pose.position)
        .map { ($1 - $0) * ($1 - $0) }
      let seconds = abs(Double(to - from)) / 1e9
      return squares.reduce(0, +).squareRoot() / seconds > fastest
    }
  }
}
