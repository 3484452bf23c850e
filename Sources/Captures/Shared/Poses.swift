import Core

/// What a record says about a pose or another transform.
enum Reading<Value: Hashable & Sendable>: Hashable {
  case value(Value)
  /// NaN or infinity in it.
  case nonFinite
  /// No rotation and position.
  case malformed
  /// A file of 0 bytes.
  case empty
  /// A number lacks.
  case none
}

typealias PoseReading = Reading<Pose>

extension PoseReading {
  /// A camera's transform of ARKit, column by column.
  init(columnMajor numbers: [Double]) {
    self =
      numbers.allSatisfy(\.isFinite)
      ? Pose(arkitColumnMajor: numbers).map(Self.value) ?? .malformed : .nonFinite
  }

  /// Such a transform, row by row.
  init(rowMajor numbers: [Double]) {
    self.init(columnMajor: (0..<16).map { numbers[$0 % 4 * 4 + $0 / 4] })
  }
}

extension WarningCollector {
  /// Warns of poses that have no row.
  func addUnusable(
    _ poses: [PoseReading],
    nonFinite: String = "poses with NaN or infinite numbers have no row"
  ) {
    add(.nonFiniteValue, "poses", count: poses.count { $0 == .nonFinite }, nonFinite)
    add(
      .corruptRecord, "poses", count: poses.count { $0 == .malformed },
      "poses that are no rotation and position")
  }
}

extension PoseStream.Row {
  /// The rows of the frames that have a pose.
  static func rows(_ readings: some Sequence<(Int, PoseReading)>) -> [PoseStream.Row] {
    readings.compactMap { frame, reading in
      if case .value(let pose) = reading { PoseStream.Row(frame: frame, pose: pose) } else { nil }
    }
  }

  fileprivate func meters(to other: PoseStream.Row) -> Double {
    zip(pose.position, other.pose.position).reduce(0) { $0 + ($1.1 - $1.0) * ($1.1 - $1.0) }
      .squareRoot()
  }
}

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
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      var seconds = assumedStep
      if let from = times[before], let to = times[after] { seconds = Double(to - from) / 1e9 }
      return rows[before].meters(to: rows[after]) > maximumSpeed * max(seconds, 0)
    }
  }

  /// Counts only steps between two different times, in either direction: equal and missing times have no speed, and are
  /// reported by themselves.
  static func countTimed(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      guard let from = times[before], let to = times[after], from != to else { return false }
      return rows[before].meters(to: rows[after]) / (abs(Double(to - from)) / 1e9) > maximumSpeed
    }
  }
}
