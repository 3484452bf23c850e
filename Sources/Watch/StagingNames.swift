import Captures
import Core
import Engine

/// What names in a staging folder tell of those who write there.
enum StagingNames {
  /// An empty file that a sender puts into a capture's folder when it has sent everything.
  static let complete = ".complete"

  /// Whether a transfer writes a file or folder under this name until it is whole: browsers, rclone, WinSCP, Syncthing,
  /// rsync (`.NAME.XXXXXX`), the Files app (`NAME.sb-…`), Nextcloud (`.NAME.~…`), lftp, desktops. The placeholder of a
  /// file that a cloud drive has not downloaded tells as much.
  static func isTransfer(_ name: String) -> Bool {
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
    return tail.count == 6 && tail.allSatisfy(\.isLetterOrDigit) && !isBystander(name)
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
  static func isTransferFolder(_ name: String) -> Bool {
    name == ".~tmp~" || name == ".rsync-partial"
  }

  /// Whether a transfer writes the file of this name, which is a capture by itself, under another one.
  static func isTransfer(_ name: String, of file: String) -> Bool {
    if target(ofTransfer: name) == file { return true }
    let bytes = name.hasPrefix(".") ? name.utf8.dropFirst() : name.utf8[...]
    return bytes.count > file.utf8.count && bytes.starts(with: file.utf8)
      && bytes.dropFirst(file.utf8.count).first == UInt8(ascii: ".") && isTransfer(name)
  }

  /// The name that the file of a transfer gets in the end; `nil`: it is none of a transfer.
  static func target(ofTransfer name: String) -> String? {
    guard isTransfer(name) else { return nil }
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

  /// Whether the name is no part of any capture: notes of servers, desktops and synchronizers.
  static func isBystander(_ name: String) -> Bool { IgnoredFiles.contains(name) }

  /// Whether a synchronizer kept a second version of a file that two sides have changed.
  static func isConflict(_ name: String) -> Bool {
    // Long names only: looks ask this of every file.
    guard name.utf8.count > 15 else { return false }
    return original(ofCopy: name)?.isCertain == true
  }

  /// Whether there is anything in a name or a path that all names of second copies have.
  static func mayBeCopy(_ text: String) -> Bool {
    text.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "(") }
      || text.firstRange(of: syncMark) != nil
  }

  private static let syncMark = ".sync-conflict-"

  /// The name of which another one is a second copy, by the forms of synchronizers, browsers and desktops; `nil`: it
  /// has none of these forms. An ending stays: `a (1).h264` is a copy of `a.h264`.
  ///
  /// `isCertain`: people do not choose such a name.
  static func original(ofCopy name: String) -> (name: String, isCertain: Bool)? {
    let (stem, ending) = parts(name)
    if let found = marked(name) { return (found, true) }
    // `a (1)` of browsers and Windows, `a 2` of macOS and iCloud.
    if let open = stem.lastIndex(of: "("), stem.hasSuffix(")"), open != stem.startIndex {
      let number = stem[stem.index(after: open)...].dropLast()
      let before = stem[..<open].trimmedEnd
      if isNumber(number), !before.isEmpty { return (before + ending, false) }
    }
    if let blank = stem.lastIndex(of: " "), blank != stem.startIndex,
      isNumber(stem[stem.index(after: blank)...])
    {
      let before = stem[..<blank].trimmedEnd
      if !before.isEmpty { return (before + ending, false) }
    }
    return nil
  }

  /// Without the mark that Syncthing, Dropbox, Nextcloud or ownCloud have put into it; `nil`: there is none.
  private static func marked(_ name: String) -> String? {
    // `NAME.sync-conflict-20261120-101112-ABCDEFG.ENDING`
    if let mark = name.firstRange(of: syncMark), mark.lowerBound != name.startIndex {
      let rest = name[mark.upperBound...]
      let ending = rest.firstIndex(of: ".").map { String(rest[$0...]) } ?? ""
      return name[..<mark.lowerBound] + ending
    }
    // `NAME (Anna's conflicted copy 2026-11-20).ENDING`, `NAME (conflicted copy 2026-11-20 101112).ENDING`
    for word in ["conflicted copy", "case conflict"] {
      guard let mark = name.firstRange(of: word),
        let open = name[..<mark.lowerBound].lastIndex(of: "("), open != name.startIndex,
        let close = name[mark.upperBound...].firstIndex(of: ")")
      else { continue }
      return name[..<open].trimmedEnd + name[name.index(after: close)...]
    }
    return nil
  }

  /// The name and its ending, which begins with a dot and is short.
  private static func parts(_ name: String) -> (stem: Substring, ending: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex,
      (2...6).contains(name[dot...].utf8.count), !name[dot...].contains(" ")
    else { return (name[...], "") }
    return (name[..<dot], String(name[dot...]))
  }

  private static func isNumber(_ text: Substring) -> Bool {
    (1...2).contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit)
  }
}

extension Substring {
  fileprivate var trimmedEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
