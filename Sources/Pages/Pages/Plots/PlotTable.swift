import Core

/// The figures behind a plot, in a collapsible table.
struct PlotTable {
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
    return Tag.details {
      Tag.summary { summary }
      for table in shown { table.table() }
    }
  }

  /// The table alone. Cells carry the name of their column for narrow screens.
  func table() -> Markup {
    DataTable.table(
      Attribute("class", columns.count > 2 ? "figures data" : "figures narrow"), caption, columns,
      rows.prefix(Self.most)
    ) { column, text in Tag.td(Attribute("data-label", column)) { text } }
  }
}
