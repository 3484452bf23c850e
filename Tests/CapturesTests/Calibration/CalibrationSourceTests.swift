@testable import Captures
import FoundationEssentials
import SystemPackage
import Testing

@Suite("Which calibration is in force")
struct CalibrationSourceTests {
  @Test("A named file before the device's file before the capture's own values")
  func order() throws {
    try CalibrationScratch.withFolder { folder in
      try Data("{}".utf8).write(to: URL(filePath: folder.appending("A1.txt").string))
      let named = FilePath("/lab/parameters.txt")
      func source(_ file: FilePath?, _ folder: FilePath?, _ device: String?) -> CalibrationSource {
        CalibrationSource(file: file, folder: folder, deviceID: device)
      }
      #expect(source(named, folder, "A1") == .file(named))
      #expect(
        source(nil, folder, "A1") == .deviceFile(folder.appending("A1.txt"), deviceID: "A1"))
      #expect(source(nil, folder, "B2") == .capture)
      #expect(source(nil, folder, nil) == .capture)
      #expect(source(nil, nil, "A1") == .capture)
      #expect(source(nil, nil, nil).path == nil)
      #expect(source(named, nil, nil).path == named)
    }
  }
}
