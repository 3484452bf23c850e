import FoundationEssentials
import SystemPackage

/// A CSV table as its columns' texts: for comparing what the program wrote.
public struct Table: Sendable {
  public let columns: [String]
  public let rows: [[String]]

  /// Plain tables without quoted cells, as the program writes them for numbers and names.
  public init(_ file: FilePath) throws {
    let text = try file.text()
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    let cells = lines.map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    columns = cells.first ?? []
    rows = Array(cells.dropFirst())
  }

  /// The cells of one column; empty when there is no such column.
  public subscript(column: String) -> [String] {
    guard let index = columns.firstIndex(of: column) else { return [] }
    return rows.map { $0[index] }
  }
}
