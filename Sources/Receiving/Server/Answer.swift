import Core
import HTTPTypes

/// What the server answers.
struct Answer {
  var status: HTTPResponse.Status
  var fields: HTTPFields = [:]
  var body: [UInt8] = []
  /// For the log: one or two words.
  var outcome: String
  /// Whether the connection ends after it.
  var closes = false

  /// A JSON object with a message for the person who holds the device.
  static func message(
    _ status: HTTPResponse.Status, _ message: String, outcome: String? = nil, closes: Bool = false
  ) -> Answer {
    json(status, ["message": message] as JSONObject, outcome: outcome ?? "refused", closes: closes)
  }

  static func json(
    _ status: HTTPResponse.Status, _ value: some Encodable, outcome: String, closes: Bool = false
  ) -> Answer {
    let body = (try? JSONText.canonical(value)) ?? Array("{}".utf8)
    var answer = Answer(status: status, body: body, outcome: outcome, closes: closes)
    answer.fields[.contentType] = "application/json"
    return answer
  }

  static func refusal(_ refusal: UploadRefusal, closes: Bool = false) -> Answer {
    message(refusal.kind.status, refusal.message, outcome: refusal.kind.outcome, closes: closes)
  }

  static func unavailable(_ message: String) -> Answer {
    var answer = Answer.message(.serviceUnavailable, message, outcome: "unavailable", closes: true)
    answer.fields[.retryAfter] = "10"
    return answer
  }

  static let tooManyConnections = unavailable("too many connections: try again in a moment")

  /// Bytes of the last answer of a connection that has asked for nothing.
  var wireBytes: [UInt8] {
    var lines = ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"]
    lines += fields.map { "\($0.name): \($0.value)" }
    lines += ["Content-Length: \(body.count)", "Connection: close", "", ""]
    return Array(lines.joined(separator: "\r\n").utf8) + body
  }

  /// The fields of everything that is only read.
  func readOnly() -> Answer {
    var answer = self
    answer.fields[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'self'; img-src 'self'"
    answer.fields[.xContentTypeOptions] = "nosniff"
    answer.fields[Self.referrerPolicy] = "no-referrer"
    answer.fields[.cacheControl] = "no-store"
    return answer
  }

  private static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .referer
}

extension UploadRefusal.Kind {
  var status: HTTPResponse.Status {
    switch self {
    case .invalid, .wrongDigest: .badRequest
    case .tooLarge: .contentTooLarge
    case .unknownEnding: .unsupportedMediaType
    case .noSpace: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    case .tooMany: .tooManyRequests
    case .tooSlow: .requestTimeout
    case .unknown: .notFound
    case .conflict: .conflict
    case .failed: .internalServerError
    }
  }

  var outcome: String {
    switch self {
    case .invalid: "invalid"
    case .tooLarge: "too large"
    case .unknownEnding: "unknown ending"
    case .noSpace: "no space"
    case .wrongDigest: "wrong digest"
    case .tooMany: "too many"
    case .tooSlow: "too slow"
    case .unknown: "unknown"
    case .conflict: "conflict"
    case .failed: "failed"
    }
  }
}

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
