import Core

/// An error in a pipeline file, with its position.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  public var file: String
  /// Line number, from 1.
  public var line: Int
  /// Column number, from 1, in Unicode scalars.
  var column: Int
  var message: String
  /// The line of the file that contains it.
  var sourceLine: String

  public var description: String {
    // Tabs are kept, so that the caret is below its target; escaped characters are longer.
    let above = sourceLine.unicodeScalars.prefix(max(0, column - 1))
    let missing = max(0, column - 1 - above.count)
    let caret =
      String(String.UnicodeScalarView(above)).shown.unicodeScalars
      .map { $0 == "\t" ? "\t" : " " }.joined() + String(repeating: " ", count: missing) + "^"
    return
      "\(file.onOneLine):\(line):\(column): \(message.onOneLine)\n  \(sourceLine.shown)\n  \(caret)"
  }
}

/// All errors in a pipeline file.
public struct PipelineError: Error, Hashable, Sendable, CustomStringConvertible {
  var diagnostics: [Diagnostic]

  public var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }
}

/// Finds the known name closest to a misspelled one.
public enum NearestName {
  /// `nil` if none is close, so that more than a third of the letters would change.
  public static func find(_ name: String, among known: some Sequence<String>) -> String? {
    let best = known.map { (distance(name.lowercased(), $0.lowercased()), $0) }
      .min { ($0.0, $0.1) < ($1.0, $1.1) }
    guard let best, best.0 <= max(2, name.count / 3) else { return nil }
    return best.1
  }

  /// `", did you mean 'x'?"`, or an empty text.
  public static func suggestion(_ name: String, among known: some Sequence<String>) -> String {
    find(name, among: known).map { ", did you mean '\($0)'?" } ?? ""
  }

  /// Levenshtein distance.
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[b.count]
  }
}
