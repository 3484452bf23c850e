import Core
import Foundation
import FoundationEssentials
import Glibc
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

  /// Relative paths of everything below this folder, sorted; nothing that links lead to.
  public func namesBelow() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: string).sorted()
  }

  /// Those of `namesBelow` that are no folders.
  public func filesBelow() throws -> [String] {
    try namesBelow().filter { !FileSystem.isFolder(pushing(FilePath($0))) }
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

  /// The value below a key of the object below another one; `nil` where there is none.
  public subscript(outer: String, inner: String) -> Any? {
    (self[outer] as? [String: Any])?[inner]
  }
}

/// A folder of one test, removed with this value, and in any case when the process of the tests ends.
public final class TemporaryFolder: Sendable {
  public let path: FilePath

  public init() throws {
    path = Self.place.appending(UUID().uuidString)
    try FileSystem.makeFolder(path)
  }

  deinit {
    try? FileSystem.remove(path)
  }

  /// One for what is made once for all tests of the process and never changed.
  public static func ofThisProcess() throws -> FilePath { try shared.get().path }

  private static let shared = Result { try TemporaryFolder() }

  /// What holds all of a process. In memory, where that has 4 GB and programs may be run from it: publications flush the
  /// whole file system, and a disk takes its time for thousands of small files.
  private static let place: FilePath = {
    atexit { try? FileSystem.remove(TemporaryFolder.place) }
    var memory = statvfs()
    // ST_NOEXEC, which Swift does not see.
    let noExecution: UInt = 8
    let isUsable =
      statvfs("/dev/shm", &memory) == 0 && memory.f_flag & noExecution == 0
      && UInt64(memory.f_bavail) * UInt64(memory.f_frsize) > 4 << 30
      && FileManager.default.isWritableFile(atPath: "/dev/shm")
    let disk = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    return FilePath(isUsable ? "/dev/shm" : disk).appending("scanmill-test-\(getpid())")
  }()

  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> FilePath {
    let file = path.appending(name)
    try file.write(bytes)
    return file
  }

  public func link(_ name: String, to target: String) throws {
    try path.appending(name).link(to: target)
  }

  public func bytes(of name: String) throws -> [UInt8] {
    Array(try path.appending(name).data())
  }
}

/// A CSV table as its columns' texts: for comparing what the program wrote.
public struct Table: Sendable {
  public let columns: [String]
  public let rows: [[String]]

  /// Plain tables without quoted cells, as the program writes them for numbers and names.
  public init(_ file: FilePath) throws {
    let text = try file.text()
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    let cells = lines.map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    columns = cells.first ?? []
    rows = Array(cells.dropFirst())
  }

  /// The cells of one column; empty when there is no such column.
  public subscript(column: String) -> [String] {
    guard let index = columns.firstIndex(of: column) else { return [] }
    return rows.map { $0[index] }
  }
}

/// Texts that the program writes, byte by byte: a change of a format shows as a change of a file in `Tests/Snapshots`.
public enum Snapshots {
  /// Whether they are written anew, after a deliberate change; what has changed is then for `git diff` to show.
  private static let areRenewed = ProcessInfo.processInfo.environment["SCANMILL_SNAPSHOTS"] == "1"

  /// Compares with `Tests/Snapshots/NAME.txt`. What differs is written to `.build/snapshots/NAME.txt`, to be
  /// looked at and, when it is right, to be copied.
  public static func check(
    _ text: String, _ name: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let file = Fixtures.projectRoot.appending("Tests/Snapshots/\(name).txt")
    let expected = try? file.text()
    if text == expected { return }
    let actual =
      areRenewed ? file : Fixtures.projectRoot.appending(".build/snapshots/\(name).txt")
    try FileManager.default.createDirectory(
      atPath: actual.removingLastComponent().string, withIntermediateDirectories: true)
    try actual.write(text)
    if areRenewed { return }
    Issue.record(
      "\(name) is not what it was: compare \(file) with \(actual)", sourceLocation: location)
  }
}
