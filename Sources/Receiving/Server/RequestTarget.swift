import Core

/// The target of a request, taken apart without decoding what must stay as sent.
struct RequestTarget {
  /// The token that stands in front of the path; `nil` if none does.
  var token: [UInt8]?
  /// What stands in front of the path: token and prefix, as sent.
  private(set) var base = ""
  /// The path behind token and prefix, as sent, without a query; begins with `/`.
  var path: String
  /// As sent; `nil` without one.
  var query: String?
  /// Whether the path ends where a prefix ends, without a slash: relative links would lead astray.
  var isBareBase = false

  init(_ raw: String, prefixes: [String]) {
    var path = Substring(raw)
    if let mark = raw.firstIndex(of: "?") {
      path = raw[..<mark]
      query = String(raw[raw.index(after: mark)...])
    }
    var rest = Self.collapsed(path)
    if rest.hasPrefix("/t/") {
      let secret = rest.dropFirst(3).prefix { $0 != "/" }
      token = Array(secret.utf8)
      base = "/t/\(secret)"
      rest = String(rest.dropFirst(3 + secret.count))
    }
    for prefix in prefixes.sorted(by: { $0.utf8.count > $1.utf8.count }) {
      if rest == prefix || rest.hasPrefix(prefix + "/") {
        rest = String(rest.dropFirst(prefix.count))
        base += prefix
        break
      }
    }
    isBareBase = rest.isEmpty
    // `*` and other targets that are no paths: nothing is there.
    self.path = rest.utf8.first == UInt8(ascii: "/") ? rest : "/" + rest
  }

  /// Addresses that people type end in a slash, and apps add another one.
  private static func collapsed(_ path: Substring) -> String {
    var text = ""
    for character in path where !(character == "/" && text.last == "/") { text.append(character) }
    return text
  }

  /// The parts of the path, each decoded once; `nil` if one is not UTF-8.
  var parts: [String]? {
    var parts: [String] = []
    for part in path.split(separator: "/") {
      guard let text = PercentEncoding.decoded(part) else { return nil }
      parts.append(text)
    }
    return parts
  }

  /// The value of a parameter of the query, as sent.
  func raw(_ name: String) -> String? {
    for pair in (query ?? "").split(separator: "&") {
      let mark = pair.firstIndex(of: "=") ?? pair.endIndex
      if pair[..<mark] == name {
        return mark == pair.endIndex ? "" : String(pair[pair.index(after: mark)...])
      }
    }
    return nil
  }
}

/// Decodes percent signs of addresses.
enum PercentEncoding {
  /// Each `%XX` as the byte that it stands for; other percent signs mean themselves. `nil` if the
  /// result is not UTF-8.
  static func decoded(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    let source = Array(text.utf8)
    var index = 0
    while index < source.count {
      if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
        let high = digit(source[index + 1]), let low = digit(source[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(source[index])
        index += 1
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  /// What a name in a question may mean, in the order in which it is tried: decoded once with `+`
  /// kept, once with `+` as a blank, twice, and the same three with blanks turned into `+`.
  static func meanings(of raw: String) -> [String] {
    let once = decoded(raw)
    let withBlanks = decoded(raw.replacing("+", with: " "))
    let three = [once, withBlanks, once.flatMap { decoded($0) }]
    var seen: Set<NameKey> = []
    return (three + three.map { $0?.replacing(" ", with: "+") }).compactMap(\.self)
      .filter { seen.insert(NameKey($0)).inserted }
  }
}
