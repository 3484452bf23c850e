import Core

/// Replaces secret values in records by digests, so that changes can be detected without revealing
/// the value.
public enum SecretText {
  private static let mark = "sha256:"
  /// The text in copies for people.
  static let leftOut = "(left out)"

  /// `NAME=VALUE` with a digest in place of the value; an existing digest is kept. An empty value
  /// is not a secret; a text without `=` is entirely secret.
  static func digested(_ text: String) -> String {
    replacing(text) { value in
      value.hasPrefix(mark) && value.utf8.count == mark.utf8.count + 64
        ? value
        // The name is included, so that equal values of different names have different digests.
        : mark + Digest(of: "scanmill secret\n" + text).hex
    }
  }

  /// `NAME=(left out)`.
  public static func omitted(_ text: String) -> String { replacing(text) { _ in leftOut } }

  private static func replacing(_ text: String, _ value: (String) -> String) -> String {
    guard let equals = text.firstIndex(of: "=") else { return value(text) }
    let given = String(text[text.index(after: equals)...])
    return given.isEmpty ? text : text[...equals] + value(given)
  }
}

extension JSONValue {
  /// A list of secrets as records show them.
  var withDigestedTexts: JSONValue {
    switch self {
    case .string(let text): .string(SecretText.digested(text))
    case .array(let values): .array(values.map(\.withDigestedTexts))
    case .null, .bool, .integer, .number, .object: self
    }
  }
}
