import Core
import SystemPackage

/// Where the receiver is, and the token that it wants.
struct ReceiverAddress {
  struct AddressError: Error, CustomStringConvertible {
    var description: String
  }

  /// `http://HOST:8000` and the path behind it, without a slash at the end.
  let base: String
  /// `http://HOST:8000`.
  private let origin: String
  let token: String?

  init(_ text: String, tokenFile: String?) throws(AddressError) {
    var base = text
    while base.hasSuffix("/") { base.removeLast() }
    let lowercase = base.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lowercase.hasPrefix($0) }),
      base.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 })
    else {
      throw AddressError(description: "--to \(text.onOneLine): an address such as http://HOST:8000")
    }
    let host = base.dropFirst(scheme.utf8.count).prefix { $0 != "/" }
    guard !host.isEmpty else {
      throw AddressError(description: "--to \(text.onOneLine): names no host")
    }
    let origin = String(base.prefix(scheme.utf8.count)) + host
    // The receiver takes several slashes for one, too.
    self.base =
      origin + base.dropFirst(origin.count).split(separator: "/").map { "/" + $0 }.joined()
    self.origin = origin
    token = try tokenFile.map(Self.token)
  }

  /// The whole address that a `Location` gives; `nil` if it does not lie below `base`: the token is for no other place.
  func below(_ location: String) -> String? {
    let whole = location.hasPrefix("/") ? origin + location : location
    let path = whole.dropFirst(origin.count)
    guard whole.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }),
      whole.prefix(origin.count).lowercased() == origin.lowercased(),
      path.hasPrefix(base.dropFirst(origin.count) + "/"),
      !path.lowercased().replacing("%2e", with: ".").split(separator: "/")
        .contains(where: { $0 == "." || $0 == ".." })
    else { return nil }
    return whole
  }

  /// Reads the token from a file that holds it alone, or lines `name token` of which the first counts.
  private static func token(at path: String) throws(AddressError) -> String {
    let text: String?
    do throws(FileError) {
      let file = try InputFile(FilePath(path))
      text =
        file.count <= 1 << 16 ? String(validating: try file.head(file.count), as: UTF8.self) : nil
    } catch {
      throw AddressError(description: "--token-file: \(error)")
    }
    for line in (text ?? "").split(whereSeparator: \.isNewline) {
      let words = line.split(separator: " ")
      guard let token = words.last, !line.hasPrefix("#") else { continue }
      guard words.count <= 2, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { break }
      return String(token)
    }
    throw AddressError(description: "--token-file \(path.onOneLine): holds no token")
  }
}
