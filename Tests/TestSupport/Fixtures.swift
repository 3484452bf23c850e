import FoundationEssentials
import SystemPackage
import Testing

/// Captures made by an independent encoder, kept beside the project in `../shared/fixtures`.
public enum Fixtures {
  /// The project's root folder, from this file's own place in it.
  public static let projectRoot = FilePath(#filePath)
    .removingLastComponent().removingLastComponent().removingLastComponent()

  /// `../shared/fixtures`, or `nil` for a contributor who does not have it.
  public static let root: FilePath? = {
    let folder = projectRoot.removingLastComponent().appending("shared/fixtures")
    guard FileManager.default.fileExists(atPath: folder.string) else {
      print("note: \(folder) is absent: tests on fixtures are skipped")
      return nil
    }
    return folder
  }()

  /// `../shared/cases`: small inputs after public reports; `nil` without it.
  public static let reports: FilePath? = {
    let folder = projectRoot.removingLastComponent().appending("shared/cases")
    guard FileManager.default.fileExists(atPath: folder.string) else {
      print("note: \(folder) is absent: tests on public reports are skipped")
      return nil
    }
    return folder
  }()

  public static var arePresent: Bool { root != nil }

  /// The case folders of a family, in order of their names; empty when the fixtures are absent.
  public static func cases(of family: String) -> [FixtureCase] {
    guard let folder = root?.appending(family) else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
    return names.sorted().map { FixtureCase(name: $0, folder: folder.appending($0)) }
      .filter {
        var isFolder = false
        return FileManager.default.fileExists(atPath: $0.folder.string, isDirectory: &isFolder)
          && isFolder
      }
  }
}

/// One case of a family: `capture/` and `expected.json`, or the files of an alignment case.
public struct FixtureCase: Sendable, CustomTestStringConvertible {
  public let name: String
  public let folder: FilePath

  public var capture: FilePath { folder.appending("capture") }
  public var testDescription: String { name }

  /// The bytes of a file of the case.
  public func bytes(of file: String) throws -> Data {
    try folder.appending(file).data()
  }

  /// A JSON file of the case.
  public func json<Value: Decodable>(_ type: Value.Type, from file: String) throws -> Value {
    try JSONDecoder().decode(type, from: bytes(of: file))
  }
}
