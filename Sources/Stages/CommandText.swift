/// An argument of an external program with placeholders that are filled in when it runs.
///
/// `{output}`, `{capture}`, `{input:NAME}`, `{id}`, `{cores}`; `{{` and `}}` stand for braces. No
/// shell is involved: a placeholder is one argument or part of one, whatever its value.
struct CommandText {
  enum Piece: Hashable {
    case text(String)
    case output
    case capture
    case id
    case cores
    case input(String)
  }

  /// An unknown placeholder in a text.
  struct Problem: Error {
    var message: String
  }

  let pieces: [Piece]

  init(_ text: String) throws(Problem) {
    var pieces: [Piece] = []
    var plain = ""
    var rest = Substring(text)
    while let first = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        plain.append(first)
        rest = rest.dropFirst(2)
      } else if first == "{" {
        guard let end = rest.firstIndex(of: "}") else {
          throw Problem(message: "'\(text)': a '{' has no '}'; write {{ for the brace itself")
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        plain = ""
        pieces.append(try Self.place(rest[rest.index(after: rest.startIndex)..<end], in: text))
        rest = rest[rest.index(after: end)...]
      } else if first == "}" {
        throw Problem(message: "'\(text)': a '}' has no '{'; write }} for the brace itself")
      } else {
        plain.append(first)
        rest = rest.dropFirst()
      }
    }
    if !plain.isEmpty { pieces.append(.text(plain)) }
    self.pieces = pieces
  }

  private static func place(_ name: Substring, in text: String) throws(Problem) -> Piece {
    switch name {
    case "output": return .output
    case "capture": return .capture
    case "id": return .id
    case "cores": return .cores
    default:
      if name.hasPrefix("input:"), name.count > 6 { return .input(String(name.dropFirst(6))) }
      throw Problem(
        message: "'\(text)': no place '{\(name)}'; there are {output}, {capture}, {input:NAME}, "
          + "{id} and {cores}")
    }
  }
}
