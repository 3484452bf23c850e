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

  /// A transform from its 16 numbers in row-major order.
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

  /// The number of rows at the start whose position is exactly zero: tracking had not begun, where there are at least
  /// two.
  static func untrackedStart(_ rows: [PoseStream.Row]) -> Int {
    rows.prefix { $0.pose.position.allSatisfy { $0 == 0 } }.count
  }

  fileprivate func meters(to other: PoseStream.Row) -> Double {
    zip(pose.position, other.pose.position).reduce(0) { $0 + ($1.1 - $1.0) * ($1.1 - $1.0) }
      .squareRoot()
  }
}

/// A place where the poses do not continue those before.
public struct PoseBreak: Hashable, Sendable {
  public enum Cause: Hashable, Sendable {
    /// Positions before it are exactly zero.
    case trackingBegins
    /// A step that no hand-held device makes in its time, or in one camera frame if that is not known.
    case jump(meters: Double, seconds: Double)
  }

  /// The first frame behind it.
  public let frame: Int
  public let cause: Cause

  /// All breaks, in the order of frames.
  public static func all(_ capture: Capture) -> [PoseBreak] {
    let rows = (capture.poses.value?.rows ?? []).filter {
      capture.frames.indices.contains($0.frame)
    }.sorted { $0.frame < $1.frame }
    let start = PoseStream.Row.untrackedStart(rows)
    let tracked = rows.dropFirst(start > 1 ? start : 0)
    var breaks: [PoseBreak] = []
    if let first = tracked.first, tracked.count < rows.count {
      breaks.append(PoseBreak(frame: first.frame, cause: .trackingBegins))
    }
    for (before, row) in zip(tracked, tracked.dropFirst()) {
      var seconds = assumedStep
      if let from = capture.frames[before.frame].timestamp,
        let to = capture.frames[row.frame].timestamp,
        from != to
      {
        seconds = abs(Double(to - from)) / 1e9
      }
      let meters = before.meters(to: row)
      if meters > maximumSpeed * seconds {
        breaks.append(
          PoseBreak(frame: row.frame, cause: .jump(meters: meters, seconds: seconds)))
      }
    }
    return breaks
  }
}

/// Steps that are impossible for a hand-held device are counted: tracking was lost and resumed elsewhere.
extension PoseBreak {
  /// Limit in meters per second between neighboring poses.
  private static let maximumSpeed = 10.0
  /// Assumed seconds between neighboring poses if a time is missing: one camera frame.
  private static let assumedStep = 1.0 / 60

  /// Number of steps between rows that are faster than `maximumSpeed`. `times[i]` belongs to
  /// `rows[i]`. A move between equal times counts.
  static func countJumps(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      var seconds = assumedStep
      if let from = times[before], let to = times[after] { seconds = Double(to - from) / 1e9 }
      return rows[before].meters(to: rows[after]) > maximumSpeed * max(seconds, 0)
    }
  }

  /// Counts only steps between two different times, in either direction: equal and missing times have no speed, and are
  /// reported by themselves.
  static func countTimedJumps(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    zip(rows.indices, rows.indices.dropFirst()).count { before, after in
      guard let from = times[before], let to = times[after], from != to else { return false }
      return rows[before].meters(to: rows[after]) / (abs(Double(to - from)) / 1e9) > maximumSpeed
    }
  }
}
