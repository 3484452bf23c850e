import Core

/// One line of the log: a request and what became of it. Holds no path and no header, so that no token
/// is ever in it.
public struct RequestRecord: Codable, Hashable, Sendable {
  public var time: String
  public var sender: String
  var method: String
  public var capture: String
  public var name: String
  public var bytes: Int64
  public var seconds: Double
  public var status: Int
  public var outcome: String

  /// A line that is about no request.
  public static func note(_ text: String) -> RequestRecord {
    RequestRecord(
      time: "", sender: "", method: "", capture: "", name: "", bytes: 0, seconds: 0, status: 0,
      outcome: text)
  }

  /// For people: one line, control characters escaped.
  public var text: String {
    let what = [capture, name].filter { !$0.isEmpty }.joined(separator: "/")
    return "\(time) \(sender) \(method) \(what.isEmpty ? "-" : what) \(ByteCount.text(bytes)) in "
      + "\(DurationText.measured(seconds)): \(status) \(outcome)"
  }

  /// For programs: one JSON object without a line end.
  public var json: String {
    guard let bytes = try? JSONText.canonical(self) else { return "{}" }
    return String(decoding: bytes, as: UTF8.self).shownAsJSON
  }
}
