import Media
import Processing
import Core

/// A row per picked frame: which group it was picked of.
struct PickTable {
  static let fileName = "picked.csv"
  static let columns = ["frame", "first", "last", "pictures", "sharpness", "begun_by"]

  private var rows: [PickedFrame<Void>] = []

  var frames: [Int] { rows.map(\.frame).sorted() }

  mutating func add<Payload>(_ picked: PickedFrame<Payload>) {
    rows.append(picked.withoutPayload)
  }

  /// Writes the table into the artifact.
  func write(_ staging: StagingFolder) throws {
    var table = try TableFile(Self.fileName, Self.columns, staging)
    for row in rows {
      table.csv.field(row.frame)
      table.csv.field(row.first)
      table.csv.field(row.last)
      table.csv.field(row.pictures)
      table.csv.field((row.rank.sharpness.variance * 1000).rounded() / 1000)
      table.csv.field(row.begun.rawValue)
      try table.endRow()
    }
    try table.finish()
  }
}
