import Core

/// The figures behind a plot, in a collapsible table.
struct PlotTable: Sendable {
  var caption: String
  var columns: [String]
  /// The first cell of each row is its title.
  var rows: [[String]]

  static let most = 60

  func markup() -> Markup {
    Self.folded([self], summary: "Figures as a table")
  }

  /// Several tables in one collapsible element; those without rows are left out.
  static func folded(_ tables: [PlotTable], summary: String = "Figures as tables") -> Markup {
    let shown = tables.filter { !$0.rows.isEmpty }
    guard !shown.isEmpty else { return .nothing }
    return .element(.details) {
      Markup.element(.summary) { summary }
      for table in shown { table.table() }
    }
  }

  /// The table alone. Cells carry the name of their column for narrow screens.
  func table() -> Markup {
    .element(.table, Attribute("class", columns.count > 2 ? "figures data" : "figures narrow")) {
      Markup.element(.caption) { caption }
      Markup.head(columns)
      Markup.element(.tbody) {
        for row in rows.prefix(Self.most) {
          Markup.element(.tr) {
            for (index, cell) in row.enumerated() {
              if index == 0 {
                Markup.element(.th, Attribute("scope", "row")) { cell }
              } else {
                Markup.element(
                  .td,
                  Attribute("data-label", columns.indices.contains(index) ? columns[index] : "")
                ) { cell }
              }
            }
          }
        }
      }
    }
  }
}
