/// The target of a link: an element of the page or a file next to it, never anything with a scheme.
public struct PageAddress: Sendable, Hashable {
  let text: String

  static func fragment(_ id: String) -> PageAddress {
    PageAddress(text: "#" + encoded(Array(id.utf8)))
  }

  /// - Parameter components: names of folders and of a file, relative to the page, with the bytes
  ///   that they have on disk; `..` is the parent folder.
  public static func file(_ components: [String]) -> PageAddress {
    // With "./" in front, a colon in the first name is not taken for a scheme.
    PageAddress(
      text: "./" + components.map { encoded(PathText.bytes(of: $0)) }.joined(separator: "/"))
  }

  /// A file in or below the page's folder, by its path with `/`; `nil` for other paths: empty or
  /// absolute ones, and those with `.`, `..` or an empty component.
  public static func below(_ path: String) -> PageAddress? {
    let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
    return file(names)
  }

  /// The bytes in which an address may have any: letters, digits and `-._~` as they are, others as `%2F`.
  public static func encoded(_ bytes: [UInt8]) -> String {
    var text = ""
    for byte in bytes {
      if byte.isLetterOrDigit || "-._~".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let hex = String(byte, radix: 16, uppercase: true)
        text += "%" + (hex.count < 2 ? "0" : "") + hex
      }
    }
    return text
  }
}

/// A picture embedded in the page.
public struct PictureData: Sendable, Hashable {
  public enum Kind: String, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case svg = "image/svg+xml"
  }

  let text: String

  public init(_ kind: Kind, _ bytes: [UInt8]) {
    text = "data:\(kind.rawValue);base64," + Base64Text.of(bytes)
  }
}
