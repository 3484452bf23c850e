import Storage

/// Words of a command line that a shell reads as they are meant, whatever they hold.
public enum ShellText {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+".utf8)

  /// The words with blanks between them; texts as `PathText` carries them.
  public static func command(_ words: [String]) -> String {
    words.map(quoted).joined(separator: " ")
  }

  /// One word: plain as it is, else in single quotes, and where characters control, turn the direction of
  /// writing or are no text as `$'…'` (bash, zsh, ksh), so that what is shown can be copied.
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

  /// Three digits: what follows cannot be taken for a part of the number.
  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
  }
}
