import Media
import Core

extension ColumnTable {
  /// The columns with these names; the error names those that are missing.
  func indices(of names: [String]) throws(CaptureError) -> [Int] {
    let missing = names.filter { columns[$0] == nil }
    guard missing.isEmpty else {
      throw CaptureError(
        file: path, byteOffset: scanner.byteOffset,
        problem: "no column \(missing.map { "`\($0)`" }.joined(separator: ", ")) in the header of "
          + file,
        remedy: "name the columns as the app does: \(names.joined(separator: ","))")
    }
    return names.compactMap { columns[$0] }
  }

  /// The column names in the header of a listed file; empty without one.
  static func columns(of name: String, in listing: FolderListing) -> Set<String> {
    guard listing.contains(name),
      let table = try? ColumnTable(
        listing.folder.appending(name: name), head: listing.head(of: name), ownOrder: [],
        isRow: { _ in false })
    else { return [] }
    return Set(table.columns.keys)
  }
}
