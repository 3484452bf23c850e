import Core
import SystemPackage

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
