import Core
import HTTPTypes

/// What the server answers; thrown where it stands in place of what was asked for.
struct Answer: Error {
  var status: HTTPResponse.Status
  var fields: HTTPFields = [:]
  var body: [UInt8] = []
  /// For the log: one or two words.
  var outcome: String

  /// A JSON object with a message for the person who holds the device.
  static func message(
    _ status: HTTPResponse.Status, _ message: String, outcome: String = "refused"
  ) -> Answer {
    json(status, ["message": message] as JSONObject, outcome: outcome)
  }

  static func json(
    _ status: HTTPResponse.Status, _ value: some Encodable, outcome: String
  ) -> Answer {
    let body = (try? JSONText.canonical(value)) ?? Array("{}".utf8)
    return Answer(status: status, body: body, outcome: outcome)
      .with("Content-Type", "application/json")
  }

  static func document(_ type: String, _ body: [UInt8], outcome: String) -> Answer {
    Answer(status: .ok, body: body, outcome: outcome).with("Content-Type", type)
  }

  static func refusal(_ error: any Error) -> Answer {
    if let answer = error as? Answer { return answer }
    let refusal = UploadStore.refusal(error)
    return message(refusal.kind.status, refusal.message, outcome: refusal.kind.outcome)
  }

  /// For a sender that goes on, or sends again, whatever ended the body.
  static func cut(_ refusal: UploadRefusal) -> Answer {
    message(.badRequest, refusal.message, outcome: "cut")
  }

  /// Nothing is at the address, or nothing of that name was received.
  static func unknown(_ message: String) -> Answer {
    .message(.notFound, message, outcome: "unknown")
  }

  static func unavailable(_ message: String) -> Answer {
    .message(.serviceUnavailable, message, outcome: "unavailable").with("Retry-After", "10")
  }

  static let tooManyConnections = unavailable("too many connections: try again in a moment")

  /// What stands before the body.
  func head(closes: Bool) -> HTTPResponse {
    var head = HTTPResponse(status: status, headerFields: fields)
    if status != .noContent { head.headerFields[.contentLength] = "\(body.count)" }
    if closes { head.headerFields[.connection] = "close" }
    return head
  }

  /// Bytes of the last answer of a connection that has asked for nothing.
  var wireBytes: [UInt8] {
    let fields = head(closes: true).headerFields.map { "\($0.name): \($0.value)\r\n" }
    return Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\(fields.joined())\r\n".utf8)
      + body
  }

  /// The answer with a field, if that has a value.
  func with(_ name: String, _ value: String?) -> Answer {
    guard let name = HTTPField.Name(name), let value else { return self }
    var answer = self
    answer.fields[name] = value
    return answer
  }

  /// The fields of everything that is only read.
  func readOnly() -> Answer {
    with("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
      .with("X-Content-Type-Options", "nosniff").with("Referrer-Policy", "no-referrer")
      .with("Cache-Control", "no-store")
  }
}

extension UploadRefusal.Kind {
  var status: HTTPResponse.Status {
    switch self {
    case .invalid, .wrongDigest, .cut: .badRequest
    case .tooLarge: .contentTooLarge
    case .unknownEnding: .unsupportedMediaType
    case .noSpace: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    case .tooMany: .tooManyRequests
    case .tooSlow: .requestTimeout
    case .unknown: .notFound
    case .conflict: .conflict
    case .locked: HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    case .failed: .internalServerError
    }
  }

  var outcome: String {
    switch self {
    case .invalid, .cut: "invalid"
    case .tooLarge: "too large"
    case .unknownEnding: "unknown ending"
    case .noSpace: "no space"
    case .wrongDigest: "wrong digest"
    case .tooMany: "too many"
    case .tooSlow: "too slow"
    case .unknown: "unknown"
    case .conflict: "conflict"
    case .locked: "locked"
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
