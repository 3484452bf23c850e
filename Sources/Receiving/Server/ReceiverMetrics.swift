import Core
import Synchronization

/// Numbers of a server since its start.
final class ReceiverMetrics: Sendable {
  struct Counts: Sendable {
    var bytes: Int64 = 0
    var files = 0
    var duplicates = 0
    var replaced = 0
    var verified = 0
    var mismatches = 0
    var interrupted = 0
    var rejected: [Int: Int] = [:]
    /// Requests by the first bound that their seconds do not exceed.
    var durations = [Int](repeating: 0, count: ReceiverMetrics.bounds.count + 1)
    var seconds = 0.0
  }

  static let bounds: [Double] = [0.01, 0.1, 1, 10, 60, 600, 3600]
  private let counts = Mutex(Counts())

  func count(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }

  func request(seconds: Double) {
    let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    count {
      $0.durations[index] += 1
      $0.seconds += seconds
    }
  }

  /// The text that Prometheus reads.
  func text(captures: [String: Int], active: Int, free: Int64?) -> String {
    let counts = counts.withLock { $0 }
    var text = ""
    func metric(_ name: String, _ type: String, _ help: String, _ values: [(String, String)]) {
      text += "# HELP scanmill_receive_\(name) \(help)\n# TYPE scanmill_receive_\(name) \(type)\n"
      for (labels, value) in values { text += "scanmill_receive_\(name)\(labels) \(value)\n" }
    }
    metric("bytes_total", "counter", "Bytes of bodies received.", [("", "\(counts.bytes)")])
    metric("files_total", "counter", "Files stored.", [("", "\(counts.files)")])
    metric(
      "duplicates_total", "counter", "Files that were there already.",
      [("", "\(counts.duplicates)")])
    metric(
      "replaced_total", "counter", "Files that took the place of others.",
      [("", "\(counts.replaced)")])
    metric("verified_total", "counter", "Verifies that matched.", [("", "\(counts.verified)")])
    metric(
      "mismatches_total", "counter", "Verifies that did not match.", [("", "\(counts.mismatches)")])
    metric(
      "interrupted_total", "counter", "Uploads that ended too early.",
      [("", "\(counts.interrupted)")])
    metric(
      "rejected_total", "counter", "Requests refused.",
      counts.rejected.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", "\($0.value)") })
    metric(
      "captures", "gauge", "Captures in the staging folder.",
      captures.sorted { $0.key < $1.key }.map { ("{state=\"\($0.key)\"}", "\($0.value)") })
    metric("active_uploads", "gauge", "Uploads on their way.", [("", "\(active)")])
    metric(
      "free_bytes", "gauge", "Free space of the disk of the staging folder.",
      [("", "\(free ?? 0)")])
    var buckets: [(String, String)] = []
    var sum = 0
    for (bound, count) in zip(Self.bounds, counts.durations) {
      sum += count
      buckets.append(("_bucket{le=\"\(NumberText.plain(bound))\"}", "\(sum)"))
    }
    sum += counts.durations.last ?? 0
    buckets.append(("_bucket{le=\"+Inf\"}", "\(sum)"))
    buckets.append(("_sum", "\(counts.seconds)"))
    buckets.append(("_count", "\(sum)"))
    metric("request_seconds", "histogram", "Seconds that requests took.", buckets)
    return text
  }
}

extension NumberText {
  /// `0.01`, `10`.
  fileprivate static func plain(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : "\(value)"
  }
}
