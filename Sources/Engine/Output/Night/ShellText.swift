import Core

/// Quotes arguments for a shell, whatever characters they contain.
public enum ShellText {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+".utf8)

  /// The arguments separated by blanks; texts are encoded by `PathText`.
  public static func command(_ words: [String]) -> String {
    words.map(quoted).joined(separator: " ")
  }

  /// One argument: unchanged if possible, else in single quotes, or as `$'…'` (bash, zsh, ksh) if
  /// it contains control characters, characters that change the writing direction, or invalid text.
  /// The result can be copied into a shell.
  public static func quoted(_ word: String) -> String {
    let bytes = PathText.bytes(of: word)
    if !bytes.isEmpty, bytes.allSatisfy(plain.contains) { return word }
    let isText = String(validating: bytes, as: UTF8.self) != nil
    if isText, word.onOneLine == word {
      return "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "'"): text += #"\'"#
      case UInt8(ascii: "\\"): text += #"\\"#
      case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += octal(byte)
      }
    }
    return "$'" + text + "'"
  }

  /// Three digits, so that a following digit cannot become part of the number.
  private static func octal(_ byte: UInt8) -> String {
    "\\" + byte.padded(3, radix: 8)
  }
}
