import Storage
import SystemPackage

/// Where the receiver is, and the token that it wants.
struct ReceiverAddress {
  struct AddressError: Error, CustomStringConvertible {
    var description: String
  }

  /// `http://HOST:8000` and what stands behind it, without a slash at the end.
  let base: String
  /// `http://HOST:8000`.
  let origin: String
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
    self.base = base
    origin = String(base.prefix(scheme.utf8.count)) + host
    token = try tokenFile.map(Self.token)
  }

  /// Of a file that holds the token alone, or lines `name token` of which the first counts.
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
