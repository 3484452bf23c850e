import Foundation
import SystemPackage
import Testing

/// Files of tests, read and written whole.
extension FilePath {
  /// `nil` for what cannot be read.
  public var contents: Data? { FileManager.default.contents(atPath: string) }

  public func data() throws -> Data { try Data(contentsOf: URL(filePath: string)) }

  public func text() throws -> String { try String(contentsOfFile: string, encoding: .utf8) }

  /// As JSON; fails the test for a document that is no object.
  public func json() throws -> [String: Any] { try data().json() }

  public func write(_ text: String) throws { try write(text.utf8) }

  public func write(_ bytes: some Sequence<UInt8>) throws {
    try Data(bytes).write(to: URL(filePath: string))
  }

  public func write(json object: Any) throws {
    try write(JSONSerialization.data(withJSONObject: object))
  }

  /// A symbolic link at this place.
  public func link(to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: string, withDestinationPath: target)
  }

  public func move(to place: FilePath) throws {
    try FileManager.default.moveItem(atPath: string, toPath: place.string)
  }

  public func copy(to place: FilePath) throws {
    try FileManager.default.copyItem(atPath: string, toPath: place.string)
  }
}

extension StringProtocol {
  /// Without empty ones.
  public var lines: [SubSequence] { split(separator: "\n") }
}

extension Data {
  /// As JSON; fails the test for a document that is no object.
  public func json() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: self) as? [String: Any])
  }
}

extension [String: Any] {
  /// The object below a key; fails the test where there is none.
  public func object(_ key: String) throws -> [String: Any] {
    try #require(self[key] as? [String: Any], "\(key)")
  }

  /// The objects of the list below a key; fails the test where there is none.
  public func objects(_ key: String) throws -> [[String: Any]] {
    try #require(self[key] as? [[String: Any]], "\(key)")
  }
}
