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
public struct PipelineError: Error, Hashable, CustomStringConvertible {
  var diagnostics: [Diagnostic]

  public var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }
}
