import Core
import Media
import SystemPackage

/// The rows of a table that `capture.yaml` names: delimited text, JSON lines (`.jsonl`, `.ndjson`),
/// or a list in a JSON file (`.json`). Damaged rows keep their place.
///
/// Memory: a piece of a text, a whole JSON file.
struct OpenFolderTable {
  /// The table that a stream's rows lie in.
  struct Place: Hashable {
    var file: String
    /// The key path of the list of rows in a JSON file; empty for the file itself.
    var rows = ""
    /// The names of the columns of a table without header.
    var columns: [String]?
    /// The rows that are meant, where the table has several kinds: what their columns hold.
    var filter: [String: String] = [:]

    /// Which rows were meant, for messages.
    var filterWords: String {
      filter.isEmpty
        ? ""
        : " where "
          + filter.sorted { $0.key < $1.key }.map { "\($0) is \($1)" }.joined(separator: ", ")
    }
  }

  private let path: FilePath
  private let place: Place
  /// Number of rows so far, damaged ones included unless rows are chosen by a filter.
  private(set) var count = 0
  private(set) var damaged = 0
  /// Where the first damaged row lies and what is wrong with it, for messages.
  private(set) var firstDamage: String?
  /// Whether the file ends inside a row.
  private(set) var isCut = false

  private enum Form { case text, lines, list }
  private let form: Form
  private var scanner = CSVScanner(bytes: [])
  private var isFirstRowAtHand = false
  /// The places of a text's columns, by plain name.
  private var columns: [String: Int] = [:]
  /// Number of columns.
  private var width = 0
  /// The cells of the current row that stand for columns.
  private var cells: [Int] = []
  /// The JSON row, or the file of all, and the place of the row in it.
  private var json: [UInt8] = []
  private var row = 0..<0
  private var next = 0
  /// The number of the current row of a list, from 1.
  private var entry = 0

  init(_ path: FilePath, _ place: Place) throws(CaptureError) {
    (self.path, self.place) = (path, place)
    form =
      switch path.extension?.lowercased() {
      case "jsonl", "ndjson": .lines
      case "json": .list
      default: .text
      }
    guard form == .list else {
      scanner = try CaptureError.naming(
        path, try RowTable.scanner(path, longestLine: InputLimits.bytesOfLine.most))
      if form == .text { try findHeader() }
      return
    }
    json = TextBytes.utf8(
      try CaptureError.naming(path, try InputFile(path).whole(limit: InputLimits.bytesOfJSON)))
    let keys = place.rows.split(separator: ".")
    guard let list = LooseJSON.place(of: keys, in: json, 0..<json.count),
      json[list.lowerBound] == UInt8(ascii: "[")
    else {
      let place = keys.isEmpty ? "a list" : "a list at the key `\(place.rows)`"
      throw CaptureError(file: path, problem: "it is no JSON with \(place) of rows")
    }
    next = list.lowerBound + 1
  }

  private mutating func findHeader() throws(CaptureError) {
    let named = place.columns
    var comment: Substring?
    while try nextLine() {
      let text = scanner.lineText
      if let line = text.split(separator: " ").first, line.hasPrefix("#") {
        comment = text.drop { $0 == " " || $0 == "#" }
        continue
      }
      split(text)
      var names = named ?? cells.map { scanner.text(inCell: $0) }
      isFirstRowAtHand = named != nil
      if named == nil, let first = cells.first, let comment,
        case .finite = scanner.number(inCell: first)
      {
        let delimiter = Character(Unicode.Scalar(scanner.delimiter))
        names = comment.split(separator: delimiter).map(String.init)
        isFirstRowAtHand = true
      }
      width = names.count
      for (index, name) in names.enumerated() where columns[RowTable.plainName(name)] == nil {
        columns[RowTable.plainName(name)] = index
      }
      return
    }
  }

  /// Chooses the delimiter by the first line: a comma, a semicolon, a tab, else runs of blanks.
  private mutating func split(_ line: String) {
    scanner.delimiter =
      [",", ";", "\t"].first { line.contains($0) }?.utf8.first ?? UInt8(ascii: " ")
    splitCells()
  }

  private mutating func splitCells() {
    cells =
      scanner.delimiter == UInt8(ascii: " ")
      ? (0..<scanner.cellCount).filter { !scanner.isEmpty(cell: $0) }
      : Array(0..<scanner.cellCount)
  }

  private mutating func nextLine() throws(CaptureError) -> Bool {
    do throws(FileError) {
      return try scanner.nextLine()
    } catch {
      throw CaptureError(error, of: path)
    }
  }

  /// Throws unless a text has these columns. The keys of JSON are those of each row.
  func check(_ names: [String], of subject: String) throws(CaptureError) {
    guard form == .text, count == 0, !columns.isEmpty else { return }
    for name in names + place.filter.keys.sorted() where columns[RowTable.plainName(name)] == nil {
      guard place.columns != nil || !columns.keys.allSatisfy({ Double($0) != nil }) else {
        throw CaptureError(
          file: path, problem: "its first line has numbers, and no names of columns",
          correction:
            "name the columns in their order with `columns` of the table under \(subject) in "
            + OpenFolderReader.fileName)
      }
      throw CaptureError(
        file: path,
        problem: "no column `\(name)`\(NearestName.suggestion(name, among: columns.keys.sorted()))",
        correction: "name a column of its header under \(subject) in \(OpenFolderReader.fileName): "
          + columns.sorted { $0.value < $1.value }.map(\.key).joined(separator: ", "))
    }
  }

  /// The first of some columns that has a text which is no number, with that text and its place; `nil` if there is none.
  func notANumber(_ names: [String]) -> String? {
    for name in names {
      if let text = text(name), numbers([name]) == nil {
        return "`\(String(text.prefix(40)).onOneLine)` in column `\(name)` of \(line) is no number"
      }
    }
    return nil
  }

  /// The first of some columns that has several numbers, with its place; `nil` if there is none.
  func notOneNumber(_ names: [String]) -> String? {
    for name in names {
      if let all = numbers([name]), all.count > 1 {
        return
          "`\(name)` of \(line) has \(all.count) numbers and one is meant: `\(name).0` is the first"
      }
    }
    return nil
  }

  /// Goes to the next row: whether it is usable; `nil` at the end.
  mutating func nextRow() throws(CaptureError) -> Bool? {
    while let isUsable = try step() {
      if !isUsable {
        damaged += 1
        firstDamage = firstDamage ?? damage
      }
      guard place.filter.isEmpty || (isUsable && place.filter.allSatisfy { text($0) == $1 }) else {
        continue
      }
      count += 1
      return isUsable
    }
    return nil
  }

  /// The place of the current row in the file, as an editor counts it.
  var line: String { form == .list ? "row \(entry)" : "line \(scanner.lineNumber)" }

  private var damage: String {
    form != .text || !scanner.isLineClosed || scanner.isLineTooLong
      ? line
      : "\(line) has \(Plural.text(cells.count, "value")), and \(Plural.text(width, "column"))"
        + (place.columns == nil ? " in the header" : " in \(OpenFolderReader.fileName)")
  }

  private mutating func step() throws(CaptureError) -> Bool? {
    if form == .list { return stepInList() }
    if isFirstRowAtHand {
      isFirstRowAtHand = false
    } else {
      repeat {
        guard try nextLine() else { return nil }
      } while form == .text && scanner.lineText.hasPrefix("#")
    }
    guard form == .text else {
      json = Array(scanner.lineText.utf8)
      row = 0..<json.count
      let isWhole = !scanner.isLineTooLong && LooseJSON(json) != nil
      if !isWhole, !scanner.isLineClosed { isCut = true }
      return isWhole
    }
    splitCells()
    if !scanner.isLineClosed {
      // The last cell may be cut.
      isCut = true
      cells = cells.dropLast()
      return cells.count > 1
    }
    // Decimal commas make cells without a column.
    return !scanner.isLineTooLong && cells.count >= width
      && cells.dropFirst(width).allSatisfy(scanner.isEmpty(cell:))
  }

  private mutating func stepInList() -> Bool? {
    while next < json.count, [0x20, 0x09, 0x0A, 0x0D, 0x2C].contains(json[next]) { next += 1 }
    guard next < json.count else {
      isCut = true
      return nil
    }
    guard json[next] != UInt8(ascii: "]") else { return nil }
    entry += 1
    guard let found = LooseJSON.place(of: [], in: json, next..<json.count) else {
      isCut = true
      next = json.count
      return nil
    }
    (row, next) = (found, found.upperBound)
    return json[found.lowerBound] == UInt8(ascii: "{")
  }

  // MARK: Values of the current row

  /// The text of a column, or of the value at a key path; `nil` if there is none.
  func text(_ name: String) -> String? {
    guard form != .text else {
      guard let cell = cell(name), !scanner.isEmpty(cell: cell) else { return nil }
      return scanner.text(inCell: cell)
    }
    guard let range = value(name) else { return nil }
    let text = String(decoding: json[range], as: UTF8.self)
    if text == "null" { return nil }
    return text.hasPrefix("\"") ? LooseJSON.value(String.self, in: json[range]) : text
  }

  /// The numbers of columns, or at key paths, where lists are taken apart; NaN for those that are not
  /// finite. `nil` if one lacks.
  func numbers(_ names: [String]) -> [Double]? {
    var all: [Double] = []
    for name in names {
      guard form != .text else {
        switch cell(name).map(scanner.number(inCell:)) {
        case .finite(let number)?: all.append(number)
        case .nonFinite?: all.append(.nan)
        default:
          // A matrix in one cell. Two numbers may be one with a decimal comma.
          guard names.count == 1, let text = text(name),
            let list = LooseJSON.numbers(anywhereIn: Array(text.utf8)[...]), list.count >= 9
          else { return nil }
          return list
        }
        continue
      }
      guard let range = value(name) else { return nil }
      guard let numbers = LooseJSON.numbers(anywhereIn: json[range]) else { return nil }
      all += numbers
    }
    return all
  }

  private func cell(_ name: String) -> Int? {
    columns[RowTable.plainName(name)].flatMap { cells.indices.contains($0) ? cells[$0] : nil }
  }

  /// A key that a row of a list lacks may stand at the top of the file.
  private func value(_ name: String) -> Range<Int>? {
    let keys = name.split(separator: ".")
    return LooseJSON.place(of: keys, in: json, row)
      ?? (form == .list ? LooseJSON.place(of: keys, in: json, 0..<json.count) : nil)
  }
}

/// Values in JSON text by the keys that lead to them; numbers lead into lists.
extension LooseJSON {
  /// The place of a value. Cost: a pass over what lies before it; nothing is decoded, so that
  /// decimals stay exact.
  fileprivate static func place(
    of keys: [Substring], in bytes: [UInt8], _ range: Range<Int>
  ) -> Range<Int>? {
    bytes.withUnsafeBytes { all in
      var tokens = LooseJSON.Tokens(
        UnsafeRawBufferPointer(rebasing: all[..<range.upperBound]), from: range.lowerBound)
      guard var token = tokens.next() else { return nil }
      for key in keys {
        guard token.kind == .open, let found = enter(key, token, &tokens, all) else { return nil }
        token = found
      }
      return end(of: token, &tokens).map { token.range.lowerBound..<$0 }
    }
  }

  /// The first token of a member or an element.
  private static func enter(
    _ key: Substring, _ open: LooseJSON.Tokens.Token, _ tokens: inout LooseJSON.Tokens,
    _ bytes: UnsafeRawBufferPointer
  ) -> LooseJSON.Tokens.Token? {
    let isObject = bytes[open.range.lowerBound] == UInt8(ascii: "{")
    guard isObject || Int(key) != nil else { return nil }
    var index = 0
    while var token = tokens.next(), token.kind != .close {
      if token.kind == .comma { continue }
      var isWanted = Int(key) == index
      if isObject {
        guard token.kind == .string, tokens.next()?.kind == .colon else { return nil }
        isWanted = bytes[token.range].dropFirst().dropLast().elementsEqual(key.utf8)
        guard let value = tokens.next() else { return nil }
        token = value
      }
      if isWanted { return token }
      guard end(of: token, &tokens) != nil else { return nil }
      index += 1
    }
    return nil
  }

  /// Goes behind a value; `nil` if it is cut.
  private static func end(of token: LooseJSON.Tokens.Token, _ tokens: inout LooseJSON.Tokens)
    -> Int?
  {
    guard token.kind == .open else {
      return token.kind == .string || token.kind == .word ? token.range.upperBound : nil
    }
    var depth = 1
    while let token = tokens.next() {
      if token.kind == .open { depth += 1 }
      if token.kind == .close { depth -= 1 }
      if depth == 0 { return token.range.upperBound }
    }
    return nil
  }

  /// All numbers of a value in order; `nil` if it holds anything else.
  fileprivate static func numbers(anywhereIn bytes: ArraySlice<UInt8>) -> [Double]? {
    let text = Array(bytes)
    return text.withUnsafeBytes { all in
      var numbers: [Double] = []
      for token in LooseJSON.Tokens(all) {
        switch token.kind {
        case .open, .close, .comma: continue
        case .word:
          guard
            let number = LooseJSON.number(String(decoding: all[token.range], as: UTF8.self))
          else { return nil }
          numbers.append(number.isFinite ? number : .nan)
        case .colon, .string, .cutString: return nil
        }
      }
      return numbers
    }
  }
}
