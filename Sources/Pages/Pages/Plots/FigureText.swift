import Core

/// Formats numbers and texts for pages: a decimal point, commas between thousands, no exponent for usual
/// magnitudes.
enum FigureText {
  /// With exactly `decimals` decimals (0 … 9). Values that are not finite give `–`; those beyond
  /// 10^15 are formatted as by Swift.
  static func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "–" }
    let places = min(max(decimals, 0), 9)
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = (abs(value) * scale).rounded()
    guard scaled < 1e18, let whole = Int64(exactly: scaled) else { return "\(value)" }
    var digits = "\(whole)"
    if digits.utf8.count <= places {
      digits = String(repeating: "0", count: places + 1 - digits.utf8.count) + digits
    }
    let isNegative = value < 0 && whole != 0
    let head = NumberText.grouped(digits: digits.dropLast(places))
    return (isNegative ? "−" : "") + head + (places > 0 ? "." + digits.suffix(places) : "")
  }

  /// With `digits` significant digits, at most 9 decimals.
  static func significant(_ value: Double, _ digits: Int = 3) -> String {
    fixed(value, decimals(of: value, digits))
  }

  /// Number of decimals that show `digits` significant digits of a value.
  static func decimals(of value: Double, _ digits: Int = 3) -> Int {
    guard value.isFinite, value != 0 else { return 0 }
    var places = digits - 1
    var rest = abs(value)
    while rest >= 10, places > 0 {
      rest /= 10
      places -= 1
    }
    while rest < 1, places < 9 {
      rest *= 10
      places += 1
    }
    return max(0, places)
  }

  /// `1,204`.
  static func count(_ number: Int) -> String {
    (number < 0 ? "−" : "") + NumberText.grouped(digits: "\(number.magnitude)"[...])
  }

  /// `1 frame`, `1,204 frames`.
  static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count(number)) \(Plural.word(number, one, many))"
  }

  /// `33 ms`, `2.30 s`, `4 min 10 s`, `2 h 5 min`.
  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "–" }
    let length = abs(seconds)
    let sign = seconds < 0 ? "−" : ""
    if length == 0 { return "0 s" }
    if length < 0.0995 { return sign + significant(length * 1000, 2) + " ms" }
    if length < 99.5 { return sign + significant(length) + " s" }
    guard length < 1e12 else { return sign + significant(length) + " s" }
    let whole = Int(length.rounded())
    if whole < 3600 { return "\(sign)\(whole / 60) min \(whole % 60) s" }
    return "\(sign)\(count(whole / 3600)) h \(whole % 3600 / 60) min"
  }

  /// A fraction as percent: `84 %`, `0.3 %`. Never 0 or 100 by rounding alone.
  static func percent(_ share: Double) -> String {
    guard share.isFinite else { return "–" }
    let value = share * 100
    if value > 0, value < 0.1 { return "< 0.1 %" }
    if value < 100, value >= 99.95 { return "> 99.9 %" }
    return fixed(value, value < 10 && value != 0 || value > 99 && value < 100 ? 1 : 0) + " %"
  }

  /// `3 days`, `26 h`, `5 min`: an approximate age.
  static func age(_ seconds: Double) -> String {
    let minutes = Int(min(max(seconds, 0), 1e10) / 60)
    if minutes < 90 { return "\(minutes) min" }
    if minutes < 48 * 60 { return "\(minutes / 60) h" }
    return "\(minutes / 1440) days"
  }

  /// A number for an attribute or an SVG coordinate: two decimals, no exponent.
  static func decimal(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let hundredths = Int((min(max(value, -1e12), 1e12) * 100).rounded())
    let sign = hundredths < 0 ? "-" : ""
    let size = hundredths.magnitude
    let (whole, rest) = (size / 100, size % 100)
    if rest == 0 { return "\(sign)\(whole)" }
    return rest % 10 == 0
      ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  /// A place or a length in a drawing, in percent of its width.
  static func place(_ value: Double) -> String { decimal(value) + "%" }

  /// The first `most` characters of a text.
  static func cut(_ text: String, _ most: Int) -> String {
    text.count > most ? text.prefix(most) + "…" : text
  }

  /// The number as in JSON.
  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}

/// A table of a page: facts, or the figures behind a plot in a collapsible part.
struct PageTable {
  var caption: String
  var columns: [String]
  /// The first cell of each row is its title.
  var rows: [[String]]

  static let most = 60

  func markup() -> Markup {
    Self.folded([self], summary: "Figures as a table")
  }

  /// Several tables in one collapsible element; those without rows are left out.
  static func folded(_ tables: [PageTable], summary: String = "Figures as tables") -> Markup {
    let shown = tables.filter { !$0.rows.isEmpty }
    guard !shown.isEmpty else { return .nothing }
    return Tag.details {
      Tag.summary { summary }
      for table in shown { table.table() }
    }
  }

  /// The table alone. Cells carry the name of their column for narrow screens.
  func table() -> Markup {
    Self.table(
      Attribute("class", columns.count > 2 ? "figures data" : "figures narrow"), caption, columns,
      rows.prefix(Self.most)
    ) { column, text in Tag.td(Attribute("data-label", column)) { text } }
  }

  /// Facts, which become a list of cards on a narrow screen.
  static func facts(_ caption: String, _ columns: [String], _ rows: [[String]]) -> Markup {
    table(.classes("data"), caption, columns, rows) { column, text in
      Tag.td(Attribute("data-label", column)) { Markup.name(text) }
    }
  }

  /// The figures of a plot of the night, in a collapsible table: the first column is text, the others are numbers.
  static func ofNight(_ title: String, _ columns: [String], _ rows: [[String]]) -> Markup {
    Tag.details {
      Tag.summary { title }
      table(.classes("narrow"), title, columns, rows, numbers: 1) { _, text in
        Tag.td(.classes("n")) { text }
      }
    }
  }

  /// - Parameters:
  ///   - numbers: see `Markup.head`.
  ///   - cell: a cell that is not the first of its row.
  private static func table(
    _ style: Attribute, _ caption: String, _ columns: [String], _ rows: some Sequence<[String]>,
    numbers: Int = .max, cell: (_ column: String, _ text: String) -> Markup
  ) -> Markup {
    Tag.table(style) {
      Tag.caption { caption }
      Markup.head(columns, numbers: numbers)
      Tag.tbody {
        for row in rows {
          Tag.tr {
            for (index, text) in row.enumerated() {
              if index == 0 {
                Tag.th(Attribute("scope", "row")) { text }
              } else {
                cell(columns.indices.contains(index) ? columns[index] : "", text)
              }
            }
          }
        }
      }
    }
  }
}
