import Geometry

extension MultiScanCapture {
  /// Number of steps between neighboring rows that are faster than `PoseJumps.maximumSpeed`.
  /// `times[i]` belongs to `rows[i]`. A step between equal times has no speed and does not count:
  /// equal times are reported by themselves.
  static func poseJumps(_ rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      guard let from = times[before], let to = times[after], from != to else { return false }
      let squares = zip(rows[before].pose.position, rows[after].pose.position)
        .map { ($1 - $0) * ($1 - $0) }
      let seconds = abs(Double(to - from)) / 1e9
      return squares.reduce(0, +).squareRoot() / seconds > PoseJumps.maximumSpeed
    }
  }
}
