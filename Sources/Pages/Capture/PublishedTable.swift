import Core
import Media
import Engine
import SystemPackage

/// Reads a CSV table of an artifact row by row; problems are collected, and what can be read is
/// delivered.
struct PublishedTable: Sendable {
  let path: FilePath
  /// The displayed name: `imu/imu.csv`.
  let name: String
  private let recordedBytes: Int64

  /// `nil` if the artifact does not list it, since the capture has no such data.
  init?(_ file: String, of stage: PublishedStages.Stage?, _ layout: OutputLayout) {
    guard let stage, let record = stage.record, !stage.isRemoved,
      let output = record.outputs.first(where: { $0.path == file })
    else { return nil }
    path = layout.artifact(stage.name).appending(file)
    name = "\(stage.name)/\(file)"
    recordedBytes = output.bytes
  }

  /// The current row: cells by the requested columns.
  struct Row: ~Copyable {
    fileprivate let scanner: CSVScanner
    fileprivate let cells: [Int]

    /// `nil` for an empty cell and for a text that is not a whole number of nanoseconds.
    func nanoseconds(_ column: Int) -> Int64? {
      cells[column] < 0 ? nil : scanner.timestamp(inCell: cells[column])?.nanoseconds
    }
    /// `nil` for a text that is not a finite number.
    func number(_ column: Int) -> Double? {
      cells[column] < 0 ? nil : scanner.number(inCell: cells[column]).value
    }
    func text(_ column: Int) -> String {
      cells[column] < 0 ? "" : scanner.text(inCell: cells[column])
    }
    func isEmpty(_ column: Int) -> Bool {
      cells[column] < 0 || scanner.isEmpty(cell: cells[column])
    }
    func holds(_ column: Int, _ bytes: [UInt8]) -> Bool {
      cells[column] >= 0 && scanner.cell(cells[column], holds: bytes)
    }
  }

  /// Calls `body` for every complete row.
  ///
  /// - Returns: problems of the file, one sentence each; empty for an intact one.
  func read(columns: [String], _ body: (borrowing Row) -> Void) -> [String] {
    guard !FileSystem.isLink(path) else { return ["\(name) is a link; it was not followed."] }
    guard let identity = try? FileIdentity(of: path) else {
      return ["\(name) no longer exists."]
    }
    var problems: [String] = []
    if identity.bytes != recordedBytes {
      problems.append(
        "\(name) has \(ByteCount.text(identity.bytes)), but \(ByteCount.text(recordedBytes)) were "
          + "published: it was changed or cut off. Run the capture again to rebuild it.")
    }
    do throws(FileError) {
      var scanner = try CSVScanner(path)
      guard try scanner.nextLine() else {
        return problems + ["\(name) is empty."]
      }
      let header = (0..<min(scanner.cellCount, 64)).map { scanner.text(inCell: $0) }
      let cells = columns.map { header.firstIndex(of: $0) ?? -1 }
      let missing = zip(columns, cells).filter { $0.1 < 0 }.map(\.0)
      if !missing.isEmpty {
        problems.append("\(name) has no column \(missing.joined(separator: ", ")).")
      }
      while try scanner.nextLine() {
        guard scanner.isLineClosed else {
          problems.append("\(name) ends inside row \(scanner.lineNumber - 1).")
          break
        }
        body(Row(scanner: scanner, cells: cells))
      }
    } catch {
      problems.append("\(name): \(error.reason).")
    }
    return problems
  }
}
