import Captures
import Core
import Engine

/// What names in a staging folder tell of those who write there.
enum StagingNames {
  /// An empty file that a sender puts into a capture's folder when it has sent everything.
  static let complete = ".complete"

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
