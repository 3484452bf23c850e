import Core
import Media
import SystemPackage

/// Where the calibration of a capture comes from: a file that the user names, else the device's
/// file in a folder, else the capture itself.
public enum CalibrationSource: Hashable, Sendable {
  /// A file that the user named.
  case file(FilePath)
  /// The file of the capture's device in a folder of calibrations.
  case deviceFile(FilePath, deviceID: String)
  case capture

  /// - Parameters:
  ///   - file: the file that the user names, if any.
  ///   - folder: the folder of calibrations by device, if any.
  public init(file: FilePath?, folder: FilePath?, deviceID: String?) {
    // Paths that the user names may lead anywhere.
    for path in [file, folder] { path.map(EnclosedPaths.leaveOpen) }
    if let file {
      self = .file(file)
    } else if let folder, let deviceID,
      let found = CalibrationFolder.file(for: deviceID, in: folder)
    {
      self = .deviceFile(found, deviceID: deviceID)
    } else {
      self = .capture
    }
  }

  /// The file to read; `nil` for the values of the capture itself.
  public var path: FilePath? {
    switch self {
    case .file(let path), .deviceFile(let path, _): path
    case .capture: nil
    }
  }
}

/// A folder of calibrations by device: a file's stem is the device's id, or the name that `devices.csv` gives
/// the device.
public enum CalibrationFolder {
  private static let calibrationEndings = ["json", "txt", "yaml", "yml"]
  private static let tableEndings = ["lut"]

  /// The calibration file of a device; `nil` when the folder has none or does not exist. Of
  /// several, the first in the order `.json`, `.txt`, `.yaml`, `.yml`.
  ///
  /// Names are compared, without regard to case, and no path is built from the id, so an id with a
  /// slash matches nothing. A device for whose name in `devices.csv` there is no file at all has the
  /// path of the missing file.
  public static func file(for deviceID: String, in folder: FilePath) -> FilePath? {
    found(deviceID, in: folder, calibrationEndings)
  }

  /// The depth undistortion table of a device, likewise: `.lut`. That of a sensor that takes none is `nil` if it is
  /// missing.
  ///
  /// - Parameter family: the family of the captures of the device.
  public static func table(
    for deviceID: String, in folder: FilePath, of family: FamilyDescription
  ) -> FilePath? {
    found(deviceID, in: folder, tableEndings, mayMiss: family.hasStructuredLight)
  }

  /// A device that `devices.csv` lists has the files of that name and no others.
  private static func found(
    _ deviceID: String, in folder: FilePath, _ endings: [String], mayMiss: Bool = true
  ) -> FilePath? {
    let names: [String]
    do throws(FileError) {
      names = try FileSystem.names(in: folder)
    } catch {
      // There may be one: opening it tells why it cannot be read.
      return error.kind == .notFound
        ? nil : endings.first.map { folder.appending("\(deviceID).\($0)") }
    }
    let devices = try? CalibrationDevices(in: folder)
    let isListed = devices?.lists(deviceID) == true
    guard let stem = isListed ? devices?.name(of: deviceID) : deviceID else { return nil }
    func name(_ endings: [String]) -> String? {
      endings.lazy.map { "\(stem).\($0)" }.compactMap { wanted in
        names.contains(wanted)
          ? wanted : names.first { $0.lowercased() == wanted.lowercased() }
      }.first
    }
    if let name = name(endings) { return folder.appending(name) }
    // The table says that there are files: opening one tells that it is missing.
    guard isListed, mayMiss, name(calibrationEndings + tableEndings) == nil else { return nil }
    return folder.appending("\(stem).\(endings.contains("txt") ? "txt" : tableEndings[0])")
  }
}

/// `devices.csv` of a folder of calibrations: which device has which files.
public struct CalibrationDevices: Sendable {
  public static let fileName = "devices.csv"

  /// Name of the calibration by device id in lowercase; empty for a device that has none.
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
      guard !calibration.contains("/") else {
        throw CalibrationError(
          file: path, line: line, key: "calibration_name", value: calibration,
          problem: "has a slash: write the name of files in this folder, without their endings")
      }
      let device = cells[id].lowercased()
      if let other = found[device], other != calibration {
        throw CalibrationError(
          file: path, line: line, key: cells[id], value: calibration,
          problem: "is listed twice, before with '\(other)': keep one of the two lines")
      }
      found[device] = calibration
    }
    return found
  }

  /// Whether the table has a line for the device.
  func lists(_ deviceID: String) -> Bool { names[deviceID.lowercased()] != nil }

  /// The name of a device's files without ending; `nil` for a device that is not listed or has none.
  public func name(of deviceID: String) -> String? {
    names[deviceID.lowercased()].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Reads depth undistortion tables, `NAME.lut`: little endian, int32 × 3 cells across, down and along the
/// distance, float32 meters of the last slice, then a float32 for each cell.
public enum DepthTableFile {
  private static let headBytes = 16

  /// Throws for a file that cannot be read, whose length is not what its head says, or whose head holds
  /// impossible numbers. Memory: the size of the file, which is checked before.
  public static func read(_ path: FilePath) throws(CalibrationError) -> DepthDistortionTable {
    let file: MappedFile
    do {
      file = try MappedFile(path)
    } catch {
      throw CalibrationError(file: path, problem: error.sentence)
    }
    guard file.count >= headBytes else {
      throw CalibrationError(
        file: path,
        problem:
          "has \(file.count) bytes, and the head of a table alone has \(headBytes): copy the file anew"
      )
    }
    let (sizes, distance) = file.withBytes { bytes in
      (
        (0..<3).map { Int(bytes.littleEndian(Int32.self, at: 4 * $0) ?? 0) },
        bytes.littleEndianFloat(at: 12) ?? 0
      )
    }
    for (index, name) in ["xRes", "yRes", "zRes"].enumerated()
    where !(1...DepthDistortionTable.mostCells).contains(sizes[index]) {
      throw CalibrationError(
        file: path, key: name, value: "\(sizes[index])",
        problem:
          "at byte \(4 * index) must be the number of cells, 1 to \(DepthDistortionTable.mostCells): the file is no table of "
          + "ScanNet's calibration, or damaged")
    }
    guard distance > 0, distance.isFinite else {
      throw CalibrationError(
        file: path, key: "maxDistance", value: "\(distance)",
        problem: "at byte 12 must be meters above 0: the file is damaged, estimate the table anew")
    }
    let count = sizes.reduce(1, *)
    guard file.count == headBytes + 4 * count else {
      throw CalibrationError(
        file: path,
        problem:
          "has \(file.count) bytes; a table of \(sizes[0]) × \(sizes[1]) × \(sizes[2]) cells has exactly "
          + "\(headBytes + 4 * count): copy the file anew")
    }
    let values = file.withBytes { bytes in
      (0..<count).map { index in
        bytes.littleEndianFloat(at: headBytes + 4 * index) ?? .nan
      }
    }
    guard
      let table = DepthDistortionTable(
        columns: sizes[0], rows: sizes[1], slices: sizes[2], maximumDistance: distance,
        values: values)
    else {
      throw CalibrationError(file: path, problem: "is no table of ScanNet's calibration")
    }
    return table
  }
}
