import FoundationEssentials
import SystemPackage

/// Files for the length of a test.
enum CalibrationScratch {
  static func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let folder = FilePath(FileManager.default.temporaryDirectory.path)
      .appending("calibration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder.string) }
    return try body(folder)
  }

  static func withFile<Result>(bytes: Data, _ body: (FilePath) throws -> Result) throws -> Result {
    try withFolder { folder in
      let path = folder.appending("calibration")
      try bytes.write(to: URL(filePath: path.string))
      return try body(path)
    }
  }

  static func withFile<Result>(
    _ text: String, _ body: (FilePath) throws -> Result
  ) throws -> Result {
    try withFile(bytes: Data(text.utf8), body)
  }
}
