import Foundation

/// A recorded session as text: `>` what the app sends, `<` what the receiver answers, with marks in the place of what
/// differs from one time to the other.
struct SessionText {
  /// Ports that stand for the receiver's.
  let ports: [Int]

  func text(_ entries: [RecordingRelay.Entry]) -> String {
    entries.map { entry in
      switch entry {
      case .bytes(let side, let bytes):
        Self.messages(bytes).map { message in
          let mark = side == .client ? ">" : "<"
          return masked(message).components(separatedBy: "\n")
            .map { $0.isEmpty ? mark : "\(mark) \($0)" }.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
      case .remark(let sentence): "(\(sentence))\n"
      }
    }.joined(separator: "\n")
  }

  /// Cuts bytes of one side into messages, and shows a message as lines.
  private static func messages(_ bytes: [UInt8]) -> [String] {
    var found: [String] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard startsMessage(rest), let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
        found.append(body(rest))
        break
      }
      let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        .replacing("\r\n", with: "\n")
      rest = rest[end.upperBound...]
      let length = head.firstMatch(of: /(?i)\ncontent-length: (\d+)/).flatMap { Int($0.1) } ?? 0
      let content = rest.prefix(length)
      rest = rest.dropFirst(length)
      found.append(content.isEmpty ? head : "\(head)\n\n\(body(content))")
    }
    return found
  }

  private static func startsMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
    let line = String(decoding: bytes.prefix { $0 != 0x0D }, as: UTF8.self)
    return line.hasPrefix("HTTP/1.1 ") || line.hasSuffix(" HTTP/1.1")
  }

  private static func body(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(validating: bytes, as: UTF8.self)?.replacing("\r\n", with: "\n")
    guard let text, bytes.count <= 2_000 else { return "(\(bytes.count) bytes)" }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private func masked(_ message: String) -> String {
    var text = message
    for port in ports { text = text.replacing("127.0.0.1:\(port)", with: "192.0.2.7:8000") }
    text = text.replacing(/(?m)^(Date|Upload-Expires): .*$/) { "\($0.1): …" }
    text = text.replacing(/\/(tus|resumable)\/[0-9a-f]{32}/) { "/\($0.1)/ID" }
    text = text.replacing(/expires=\d+/, with: "expires=…")
    return text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/, with: "TIME")
  }
}
