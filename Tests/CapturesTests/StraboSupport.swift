import Captures
import FoundationEssentials
import SystemPackage

/// A Strabo capture's folder in the making, removed when the test is done with it.
final class StraboScratch {
  static let token = String(repeating: "0123456789abcdef", count: 4)

  let outer: FilePath
  let folder: FilePath

  init(_ name: String = StraboScratch.token) throws {
    outer = FilePath(FileManager.default.temporaryDirectory.path)
      .appending("strabo-\(UInt64.random(in: 0 ... .max))")
    folder = outer.appending(name)
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
  }

  /// A copy of a fixture's capture.
  convenience init(copyOf fixture: FilePath) throws {
    try self.init("capture")
    try FileManager.default.removeItem(atPath: folder.string)
    try FileManager.default.copyItem(atPath: fixture.string, toPath: folder.string)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: outer.string)
  }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: folder.appending(name).string))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: folder.appending(name).string)
  }

  func rename(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(
      atPath: folder.appending(name).string, toPath: folder.appending(other).string)
  }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: folder.appending(name).string)))
  }

  func link(_ name: String, to target: FilePath) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(name).string, withDestinationPath: target.string)
  }

  /// The only file of the folder with that extension, by name.
  func name(ofType type: String) throws -> String? {
    try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted()
      .first { $0.hasSuffix(".\(type)") && $0 != "capture-info.json" }
  }

  func open() throws -> Capture {
    try StraboReader.open(
      Recognition(
        family: .strabo, certainty: .certain, folder: folder,
        id: folder.lastComponent?.string ?? "", reason: "test"))
  }
}
