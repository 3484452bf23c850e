import FoundationEssentials
import SystemPackage
import TestSupport

/// Files for the length of a test.
enum CalibrationScratch {
  static func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    return try body(folder.path)
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
