/// The table `odometry.csv` with a pose per frame, by which a capture is recognized: families that
/// would also claim such a folder ask here.
enum PoseTable {
  static let name = "odometry.csv"
  private static let columns: Set<String> = ["frame", "qx", "qy", "qz", "qw"]

  /// Whether a folder has the table. Cost: the first bytes of one file, if it is listed.
  static func isThere(in listing: FolderListing) -> Bool {
    columns.isSubset(of: RowTable.columns(of: name, in: listing))
  }
}
