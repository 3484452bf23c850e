import Core
import Foundation

/// The output name of a capture id: that of its folder, and of files named after it.
///
/// Letters and digits of any script (NFC, with their combining marks) and `._+@-` stay, all other
/// scalars become `-`. Bytes of a name that is not UTF-8 are written as `%XX`. A leading `-` or
/// `.`, and names with another meaning in an output folder, get a `_` in front. Names above 200
/// bytes are cut and end in a hash of the whole id.
///
/// Upper and lower case are kept. On a file system that ignores case, ids that differ only in case
/// get the same folder name, and the second gets `~2`.
package enum OutputName {
  static let mostBytes = 200
  /// Number of hex digits of the hash: 48 bits, enough for ids that agree in their first 187 bytes.
  private static let hashDigits = 12
  private static let kept = Set("._+@-".unicodeScalars)
  /// Names of other things next to the folders of captures, in small letters; on some disks the case of letters makes
  /// no difference.
  static let reserved: Set<String> = [
    "runs", "redacted", "nights", "index.html",
  ]

  package static func of(id: String) -> String {
    var pieces: [String] = []
    // A combining mark belongs to the letter before it.
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
    let guarded = isBare || reserved.contains(name.lowercased())
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

  /// The id in composed form (NFC); bytes that are not text separate its parts and are left out.
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

  /// `name` for the first capture with an id, `name~2` for the second.
  static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name)~\(number)"
  }

  /// The name that another capture had first: `scan` of `scan~2`; `nil` for the first one itself.
  package static func twin(of folder: String) -> String? {
    let parts = parts(folder)
    return parts.number > 1 && !parts.name.isEmpty ? parts.name : nil
  }

  /// The arguments from which `numbered` made `folder`. `~` does not occur in names otherwise.
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

/// File names of pictures and point clouds: the canonical frame index with at least six digits, and
/// an extension. All such names are made and parsed here.
package enum FrameFileName {
  /// `000042.png`.
  package static func name(_ frame: Int, _ ending: String = "png") -> String {
    stem(frame) + "." + ending
  }

  /// `000042`: the name of a frame that may have no file.
  package static func stem(_ frame: Int) -> String {
    frame.padded(6)
  }

  /// The index in a picture's file name; `nil` for other names.
  package static func frame(_ name: String) -> Int? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let stem = name[..<dot]
    return stem.utf8.allSatisfy(\.isDigit)
      ? Int(stem) : nil
  }

  /// The pictures in an artifact, by frame: PNG or JPEG.
  package static func pictures(in record: ArtifactRecord) -> [Int: OutputEntry] {
    record.outputs.reduce(into: [:]) { pictures, output in
      guard output.path.hasSuffix(".png") || output.path.hasSuffix(".jpg"),
        let frame = frame(output.path)
      else { return }
      pictures[frame] = output
    }
  }
}
