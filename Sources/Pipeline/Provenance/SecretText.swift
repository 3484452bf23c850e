import Storage

/// Values that are for a program's eyes only: in place of them records show a digest, so that a change is
/// seen and the value is not.
public enum SecretText {
  private static let mark = "sha256:"
  /// What a copy for people shows.
  public static let leftOut = "(left out)"

  /// `NAME=VALUE` with a digest in place of the value; one that is a digest already stays. An empty value
  /// is no secret, and a text without `=` is all secret.
  public static func digested(_ text: String) -> String {
    replacing(text) { value in
      value.hasPrefix(mark) && value.utf8.count == mark.utf8.count + 64
        ? value
        // With the name, so that equal values of different names differ.
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
  public var withDigestedTexts: JSONValue {
    switch self {
    case .string(let text): .string(SecretText.digested(text))
    case .array(let values): .array(values.map(\.withDigestedTexts))
    case .null, .bool, .integer, .number, .object: self
    }
  }
}
