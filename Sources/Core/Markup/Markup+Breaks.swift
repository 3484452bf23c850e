/// Where a narrow page breaks what has no blanks.
extension Markup {
  /// A path as `name`, broken after slashes before it is broken inside of a name.
  public static func path(_ text: String) -> Markup {
    element(.bdi) { breakable(text.onOneLine) }
  }

  /// A command line, broken between words and after slashes, and not after the hyphens of an option.
  public static func command(_ text: String) -> Markup {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    var all = Markup.nothing
    for (number, word) in words.enumerated() {
      if number > 0 { all.append(Markup(text: " ")) }
      let isOption = word.hasPrefix("-") && word.utf8.count <= mostOfOption
      all.append(
        isOption
          ? element(.span, .classes("option")) { Markup(text: word) } : breakable(word))
    }
    return all
  }

  /// What is longer would not fit on a phone in one line.
  private static let mostOfOption = 30

  private static func breakable(_ text: String) -> Markup {
    var all = Markup.nothing
    var piece = ""
    var wasSlash = false
    for character in text {
      if wasSlash, character != "/" {
        all.append(Markup(text: piece) + element(.wbr))
        piece = ""
      }
      piece.append(character)
      wasSlash = character == "/"
    }
    return all + Markup(text: piece)
  }
}
