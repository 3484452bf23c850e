import Core

/// A table of facts that becomes a list of cards on a narrow screen; the first cell of each row is
/// its title.
enum DataTable {
  static func markup(_ caption: String, _ columns: [String], _ rows: [[String]]) -> Markup {
    .element(.table, .classes("data")) {
      Markup.element(.caption) { caption }
      Markup.element(.thead) {
        Markup.element(.tr) {
          for column in columns { Markup.element(.th, Attribute("scope", "col")) { column } }
        }
      }
      Markup.element(.tbody) {
        for row in rows {
          Markup.element(.tr) {
            for (cell, column) in zip(row, columns) {
              if column == columns.first {
                Markup.element(.th, Attribute("scope", "row")) { cell }
              } else {
                Markup.element(.td, Attribute("data-label", column)) { Markup.name(cell) }
              }
            }
          }
        }
      }
    }
  }
}
