import Foundation
import Storage

/// The name that a capture id becomes in the output: of its folder, and of files named after it.
///
/// Letters and digits of any script (NFC, with the marks that belong to them) and `._+@-` stay,
/// everything else becomes `-`, scalar by scalar; bytes of a name that is not UTF-8 are written as `%XX`.
/// A leading `-` or `.` and names that mean something else in an output folder get a `_` in front. What
/// is longer than 200 bytes is cut and ends in a hash of the whole id.
///
/// Upper and lower case are kept as they are. Where a file system does not tell them apart, two ids that
/// differ in nothing else meet in one folder, and the second gets `~2` like any other namesake.
package enum OutputName {
  package static let mostBytes = 200
  /// Hex digits of the hash: 48 bits, ample for ids that agree in their first 187 bytes.
  private static let hashDigits = 12
  private static let kept = Set("._+@-".unicodeScalars)
  /// What lies beside the folders of captures.
  package static let reserved: Set<String> = [
    "runs", "redacted", "index.html", "catalog.sqlite", "catalog.sqlite-journal",
    "catalog.sqlite-wal", "catalog.sqlite-shm",
  ]

  package static func of(id: String) -> String {
    var pieces: [String] = []
    // A mark belongs to the letter before it.
    var isAfterLetter = false
    for scalar in composed(id) {
      if let byte = PathText.byte(scalar) {
        pieces.append(PathText.percent(byte))
        isAfterLetter = false
      } else if isLetterOrDigit(scalar) || (isAfterLetter && isMark(scalar)) {
        pieces.append(String(scalar))
        isAfterLetter = true
      } else {
        pieces.append(kept.contains(scalar) ? String(scalar) : "-")
        isAfterLetter = false
      }
    }
    let name = pieces.joined()
    let isBare = name.isEmpty || name.hasPrefix("-") || name.hasPrefix(".")
    let guarded = isBare || reserved.contains(name)
    if guarded { pieces.insert("_", at: 0) }
    guard pieces.reduce(0, { $0 + $1.utf8.count }) > mostBytes else { return pieces.joined() }
    let ending = "-" + Digest(of: PathText.bytes(of: id)).hex.prefix(hashDigits)
    var cut = ""
    for piece in pieces {
      guard cut.utf8.count + piece.utf8.count + ending.utf8.count <= mostBytes else { break }
      cut += piece
    }
    return cut + ending
  }

  /// In composed form (NFC); bytes that are no text are no part of it and separate what is.
  private static func composed(_ id: String) -> [Unicode.Scalar] {
    id.unicodeScalars.split(omittingEmptySubsequences: false) { PathText.byte($0) != nil }
      .reduce(into: (scalars: [Unicode.Scalar](), rest: id.unicodeScalars[...])) { all, text in
        all.rest = all.rest.dropFirst(text.count)
        all.scalars += String(text).precomposedStringWithCanonicalMapping.unicodeScalars
        if let odd = all.rest.popFirst() { all.scalars.append(odd) }
      }.scalars
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }

  /// `name` for the first place with an id, `name~2` for the second.
  package static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name)~\(number)"
  }

  /// What `numbered` was given. `~` is in no name by itself.
  package static func parts(_ folder: String) -> (name: String, number: Int) {
    if let tilde = folder.utf8.lastIndex(of: UInt8(ascii: "~")),
      let number = Int(folder[folder.utf8.index(after: tilde)...]), number > 1,
      folder == numbered(String(folder[..<tilde]), number)
    {
      return (String(folder[..<tilde]), number)
    }
    return (folder, 1)
  }
}
