import Geometry

/// temporary
enum PoseJumps {
  static func count(rows: [PoseStream.Row], times: [Timestamp?]) -> Int {
    var jumps = 0
    for i in 1..<max(rows.count, 1) {
      guard let a = times[i - 1], let b = times[i], b > a else { continue }
      let d = zip(rows[i].pose.position, rows[i - 1].pose.position).map { ($0 - $1) * ($0 - $1) }.reduce(0, +).squareRoot()
      if d / (Double(b - a) / 1e9) > 10 { jumps += 1 }
    }
    return jumps
  }
}
