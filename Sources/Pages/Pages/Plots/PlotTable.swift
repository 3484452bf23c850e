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
    return Tag.details {
      Tag.summary { summary }
      for table in shown { table.table() }
    }
  }

  /// The table alone. Cells carry the name of their column for narrow screens.
  func table() -> Markup {
    Tag.table(Attribute("class", columns.count > 2 ? "figures data" : "figures narrow")) {
      Tag.caption { caption }
      Markup.head(columns)
      Tag.tbody {
        for row in rows.prefix(Self.most) {
          Tag.tr {
            for (index, cell) in row.enumerated() {
              if index == 0 {
                Tag.th(Attribute("scope", "row")) { cell }
              } else {
                Tag.td(
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
