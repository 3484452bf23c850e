/// Finds texts that are not to be shown inside other texts, letters in any case and composition.
///
/// A secret of six or more characters is found anywhere. A shorter one counts only as a whole word, one of one
/// or two characters only as a whole name in a path or in quotes: a scene called `a` must not destroy every
/// sentence. Longer ones go before those they begin with.
///
/// Cost of a search: proportional to the text; of memory: to the secrets.
package struct SecretTexts: Sendable {
  private struct Secret: Sendable {
    var folded: [String]
    var replacement: String
  }

  /// By the first three characters, longest first.
  private var byBeginning: [String: [Int: [String: Secret]]] = [:]
  private var lengths: [String: [Int]] = [:]
  /// Secrets shorter than three characters.
  private var short: [String: Secret] = [:]

  private static let beginning = 3
  private static let anywhere = 6

  /// The first replacement given for a secret stays. Blank texts are no secrets.
  package mutating func add(_ text: String, _ replacement: String) {
    let folded = Self.folded(text)
    guard folded.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else { return }
    let key = folded.joined()
    let secret = Secret(folded: folded, replacement: replacement)
    guard folded.count >= Self.beginning else {
      if short[key] == nil { short[key] = secret }
      return
    }
    let begin = folded[..<Self.beginning].joined()
    if byBeginning[begin]?[folded.count]?[key] != nil { return }
    byBeginning[begin, default: [:]][folded.count, default: [:]][key] = secret
    lengths[begin] = byBeginning[begin].map { $0.keys.sorted(by: >) } ?? []
  }

  package func replaced(in text: String) -> String {
    let characters = Array(text)
    let folded = characters.map { $0.lowercased() }
    var result = ""
    var index = 0
    var hasFound = false
    while index < folded.count {
      if let (secret, count) = secret(at: index, in: folded, characters) {
        result += secret.replacement
        index += count
        hasFound = true
      } else {
        result.append(characters[index])
        index += 1
      }
    }
    return hasFound ? result : text
  }

  private func secret(
    at index: Int, in folded: [String], _ characters: [Character]
  ) -> (Secret, Int)? {
    if index + Self.beginning <= folded.count {
      let begin = folded[index..<index + Self.beginning].joined()
      for count in lengths[begin] ?? [] where index + count <= folded.count {
        let key = folded[index..<index + count].joined()
        guard let secret = byBeginning[begin]?[count]?[key] else { continue }
        if count >= Self.anywhere || isWord(index, count, characters) { return (secret, count) }
      }
    }
    for count in [2, 1] where index + count <= folded.count && !short.isEmpty {
      let key = folded[index..<index + count].joined()
      if let secret = short[key], isName(index, count, characters) { return (secret, count) }
    }
    return nil
  }

  private func isWord(_ index: Int, _ count: Int, _ characters: [Character]) -> Bool {
    func isInside(_ character: Character) -> Bool { character.isLetter || character.isNumber }
    return (index == 0 || !isInside(characters[index - 1]))
      && (index + count == characters.count || !isInside(characters[index + count]))
  }

  /// Between slashes or quotes, or the whole text; a file's ending may follow.
  private func isName(_ index: Int, _ count: Int, _ characters: [Character]) -> Bool {
    let edges: Set<Character> = ["/", "'", "\"", "`"]
    let isBegun = index == 0 || edges.contains(characters[index - 1])
    let end = index + count
    let isEnded = end == characters.count || edges.contains(characters[end])
    if isBegun, isEnded { return true }
    // `a.depth`, also at the beginning of a word.
    let isWordBegun = isBegun || characters[index - 1].isWhitespace
    return isWordBegun && end + 1 < characters.count && characters[end] == "."
      && characters[end + 1].isLetter
  }

  private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }
}
