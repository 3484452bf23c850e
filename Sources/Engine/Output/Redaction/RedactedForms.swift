/// What is private by its form, whoever's it is: paths, device ids, positions.
extension Redaction {
  /// - Whole paths keep their last name only, with what stands before it as `…/`.
  /// - UUIDs and device ids of Apple (`00008110-001A2B3C4D5E6F7A`, 40 hex digits) become `[device]`.
  /// - Decimal degrees behind words such as `latitude` become `[position]`; so do two numbers of four or more
  ///   decimals with a comma between them.
  static func withoutPrivateForms(_ text: String) -> String {
    positions(in: identifiers(in: paths(in: text)))
  }

  private static func paths(in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "/")) else { return text }
    let characters = Array(text)
    let ends: Set<Character> = ["'", "\"", "`", ",", ";", "(", ")", "<", ">", "|", "\n"]
    var result = ""
    var index = 0
    while index < characters.count {
      let isBegun =
        characters[index] == "/"
        && (index == 0 || characters[index - 1].isWhitespace
          || "'\"`(=:<".contains(characters[index - 1]))
      guard isBegun else {
        result.append(characters[index])
        index += 1
        continue
      }
      var end = index
      while end < characters.count, !characters[end].isWhitespace, !ends.contains(characters[end]) {
        end += 1
      }
      // A sentence may end behind a path.
      var last = end
      while last > index, ".:".contains(characters[last - 1]) { last -= 1 }
      let path = characters[index..<last]
      let names = path.split(separator: "/")
      result += names.isEmpty ? String(path) : "…/" + String(names[names.count - 1])
      index = last
    }
    return result
  }

  /// Lengths of runs of hex digits between dashes.
  private static let identifierShapes: [[Int]] = [[8, 4, 4, 4, 12], [8, 16], [40]]

  private static func identifiers(in text: String) -> String {
    replacingWords(in: Array(text), isHexOrDash) { word, _, _ in
      let lengths = word.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
      return identifierShapes.contains(lengths) ? "[device]" : word
    }
  }

  private static func positions(in text: String) -> String {
    let characters = Array(text)
    return replacingWords(in: characters, isOfNumber) { word, place, before in
      let isBegun = place.lowerBound == 0 || !characters[place.lowerBound - 1].isNumber
      let isPosition =
        isBegun && isDegrees(word) && (isNamed(before) || isPair(characters, place))
      return isPosition ? "[position]" : word
    }
  }

  /// The text with other words in place of some: each is a run of characters that belong to one.
  ///
  /// - Parameter shown: is given the word, its place among the characters, and what is shown of the text before it.
  private static func replacingWords(
    in characters: [Character], _ belongs: (Character) -> Bool,
    _ shown: (_ word: String, _ place: Range<Int>, _ before: String) -> String
  ) -> String {
    var result = ""
    var index = 0
    while index < characters.count {
      let place = index..<run(from: index, in: characters, belongs)
      if place.isEmpty {
        result.append(characters[index])
        index += 1
      } else {
        result += shown(String(characters[place]), place, result)
        index = place.upperBound
      }
    }
    return result
  }

  private static func isDegrees(_ word: String) -> Bool {
    guard let value = Double(word), abs(value) <= 360,
      let decimals = word.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first
    else { return false }
    return decimals.count >= 3
  }

  /// Whether what stands before a number says that it is a position.
  private static func isNamed(_ before: String) -> Bool {
    let words = before.suffix(24).lowercased()
    return ["lat", "lon", "lng", "gps", "position", "[position]", "°"].contains(
      where: words.contains)
  }

  private static func isPair(_ characters: [Character], _ place: Range<Int>) -> Bool {
    func isLong(_ word: String) -> Bool {
      isDegrees(word) && (word.split(separator: ".").last?.count ?? 0) >= 4
    }
    guard isLong(String(characters[place])) else { return false }
    var next = place.upperBound
    while next < characters.count, ", ".contains(characters[next]) { next += 1 }
    let stop = run(from: next, in: characters, isOfNumber)
    return next > place.upperBound && stop > next && isLong(String(characters[next..<stop]))
  }

  private static func run(
    from start: Int, in characters: [Character], _ belongs: (Character) -> Bool
  ) -> Int {
    var end = start
    while end < characters.count, belongs(characters[end]) { end += 1 }
    return end
  }

  private static func isHexOrDash(_ character: Character) -> Bool {
    character == "-" || (character.isASCII && character.isHexDigit)
  }

  private static func isOfNumber(_ character: Character) -> Bool {
    "+-.".contains(character) || (character.isASCII && character.isNumber)
  }
}
