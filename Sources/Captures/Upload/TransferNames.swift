import Core

/// Names that files bear while they are sent. `watch` waits until they have their own, and `receive` gives no capture
/// such a name, for `watch` would wait for it without end.
public enum TransferNames {
  /// Whether a transfer writes a file or folder under this name until it is whole: browsers, rclone, WinSCP, Syncthing,
  /// rsync (`.NAME.XXXXXX`), the Files app (`NAME.sb-…`), Nextcloud (`.NAME.~…`), lftp, desktops. The placeholder of a
  /// file that a cloud drive has not downloaded tells as much.
  public static func contains(_ name: String) -> Bool {
    // Looks ask this of every file: no text is made on the way.
    let bytes = name.utf8
    let isEnding = endings.contains { ending in
      bytes.count >= ending.count
        && zip(bytes.suffix(ending.count), ending).allSatisfy { byte, wanted in
          byte == wanted || ((0x41...0x5a).contains(byte) && byte + 0x20 == wanted)
        }
    }
    if isEnding || CloudPlaceholder.target(of: name) != nil { return true }
    if name.hasPrefix(".") {
      if hiddenPrefixes.contains(where: { name.hasPrefix($0) }) { return true }
    } else {
      return isSafeSave(name)
    }
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return false }
    let tail = name[name.index(after: dot)...].utf8
    // Nextcloud and ownCloud.
    if tail.first == UInt8(ascii: "~"), tail.count > 1,
      tail.dropFirst().allSatisfy(isHexDigit)
    {
      return true
    }
    return tail.count == 6 && tail.allSatisfy(\.isLetterOrDigit) && !IgnoredFiles.contains(name)
  }

  /// `NAME.sb-1a2b3c4d-Ab12Cd`: macOS and iOS save a file so before they give it its name.
  private static func isSafeSave(_ name: String) -> Bool {
    guard name.utf8.count > 19, name.utf8.suffix(19).starts(with: ".sb-".utf8) else { return false }
    let tail = name.utf8.suffix(15)
    return tail.enumerated().allSatisfy { index, byte in
      index == 8 ? byte == UInt8(ascii: "-") : byte.isLetterOrDigit
    }
  }

  /// Whether rsync keeps files in a folder of this name until they are whole (`--delay-updates`, `--partial-dir`).
  public static func isFolder(_ name: String) -> Bool {
    name == ".~tmp~" || name == ".rsync-partial"
  }

  /// Whether a transfer writes the file of this name, which is a capture by itself, under another one.
  public static func isTransfer(_ name: String, of file: String) -> Bool {
    if target(of: name) == file { return true }
    let bytes = name.hasPrefix(".") ? name.utf8.dropFirst() : name.utf8[...]
    return bytes.count > file.utf8.count && bytes.starts(with: file.utf8)
      && bytes.dropFirst(file.utf8.count).first == UInt8(ascii: ".") && contains(name)
  }

  /// The name that the file of a transfer gets in the end; `nil`: it is none of a transfer.
  public static func target(of name: String) -> String? {
    guard contains(name) else { return nil }
    if let target = CloudPlaceholder.target(of: name) { return target }
    let lowercase = name.lowercased()
    if let ending = endings.first(where: {
      lowercase.utf8.count > $0.count && lowercase.utf8.suffix($0.count).elementsEqual($0)
    }) {
      let whole = String(decoding: name.utf8.dropLast(ending.count), as: UTF8.self)
      for prefix in [".syncthing.", "~syncthing~"] where whole.hasPrefix(prefix) {
        return String(whole.dropFirst(prefix.count))
      }
      // rclone: `NAME.1a2b3c4d.partial`.
      if ending.elementsEqual(".partial".utf8), let dot = whole.lastIndex(of: "."),
        whole[dot...].utf8.count == 9, whole[dot...].utf8.dropFirst().allSatisfy(isHexDigit)
      {
        return String(whole[..<dot])
      }
      return whole
    }
    if isSafeSave(name) { return String(decoding: name.utf8.dropLast(19), as: UTF8.self) }
    if name.hasPrefix(".goutputstream-") { return nil }
    if name.hasPrefix(".in.") { return String(name.dropFirst(4)) }
    // `.NAME.XXXXXX`, `.NAME.~1a2b3c4d`
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    return String(name[name.index(after: name.startIndex)..<dot])
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    byte.isHexDigit && !(0x41...0x46).contains(byte)
  }

  private static let endings = [
    ".part", ".partial", ".partial~", ".filepart", ".tmp", ".crdownload", ".part.minio", ".!sync",
  ].map { Array($0.utf8) }
  /// Prefixes of GNOME and of lftp.
  private static let hiddenPrefixes = [".goutputstream-", ".in."]
}
