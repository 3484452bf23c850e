import Media
import Core
import SystemPackage

/// `devices.csv` of a folder of calibrations: which device has which files.
public struct CalibrationDevices: Sendable {
  public static let fileName = "devices.csv"

  /// Name of the calibration by device id; empty for a device that has none.
  private let names: [String: String]

  /// `nil` if the folder has no such table.
  ///
  /// Columns are found by name, `id` and `calibration_name`; others are ignored. Throws for a table
  /// that cannot be read, lacks a column, or gives a device two different names.
  public init?(in folder: FilePath) throws(CalibrationError) {
    let path = folder.appending(Self.fileName)
    do throws(FileError) {
      guard try FileSystem.names(in: folder).contains(Self.fileName) else { return nil }
    } catch {
      if error.kind == .notFound { return nil }
      throw CalibrationError(file: path, problem: error.sentence)
    }
    names = try Self.read(path)
  }

  private static func read(_ path: FilePath) throws(CalibrationError) -> [String: String] {
    var rows: [(line: Int, cells: [String])] = []
    do throws(FileError) {
      var scanner = try CSVScanner(path)
      while try scanner.nextLine() {
        rows.append((scanner.lineNumber, (0..<scanner.cellCount).map { scanner.text(inCell: $0) }))
      }
    } catch {
      throw CalibrationError(file: path, problem: error.sentence)
    }
    let heads = rows.first?.cells ?? []
    func column(_ name: String) throws(CalibrationError) -> Int {
      guard let index = heads.firstIndex(of: name) else {
        throw CalibrationError(
          file: path, line: 1, key: name,
          problem: "is missing: the first line must name the columns id and calibration_name")
      }
      return index
    }
    let (id, name) = (try column("id"), try column("calibration_name"))
    var found: [String: String] = [:]
    for (line, cells) in rows.dropFirst() where cells.indices.contains(id) && !cells[id].isEmpty {
      let calibration = cells.indices.contains(name) ? cells[name] : ""
      if let other = found[cells[id]], other != calibration {
        throw CalibrationError(
          file: path, line: line, key: cells[id], value: calibration,
          problem: "is listed twice, before with '\(other)': keep one of the two lines")
      }
      found[cells[id]] = calibration
    }
    return found
  }

  /// Whether the table has a line for the device.
  func lists(_ deviceID: String) -> Bool { names[deviceID] != nil }

  /// The name of a device's files without ending; `nil` for a device that is not listed or has none.
  public func name(of deviceID: String) -> String? {
    names[deviceID].flatMap { $0.isEmpty ? nil : $0 }
  }
}
