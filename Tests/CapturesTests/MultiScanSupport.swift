@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

enum MultiScanSupport {
  static let cases = Fixtures.cases(of: "multiscan")

  struct NotRecognized: Error {}

  /// Opens the one capture of a folder.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = MultiScanReader.recognize(try FolderListing(of: folder))
    guard let first = found.first else { throw NotRecognized() }
    return try MultiScanReader.open(first)
  }

  /// Decodes all records of a stream: one digest per canonical frame, and the issues by code.
  static func decode<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, frames: Int
  ) throws -> (digests: [String?], issues: [WarningCode: Int]) {
    var digests = [String?](repeating: nil, count: frames)
    var issues: [WarningCode: Int] = [:]
    guard case .ordered(let source) = stream.access else { return (digests, issues) }
    let reader = try source.makeReader()
    var pixels: [Pixel] = []
    var record = 0
    while let outcome = try reader.next(into: &pixels) {
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      let frame = stream.firstFrame + record
      if outcome.hasPicture, digests.indices.contains(frame) {
        digests[frame] = Digest(of: pixels.flatMap(\.littleEndianBytes)).hex
      }
      record += 1
    }
    #expect(record == source.recordCount)
    return (digests, issues)
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}

/// A folder of its own for one test, removed at the end.
final class MultiScanFolder {
  private let place: TemporaryFolder
  var path: FilePath { place.path }

  init() throws {
    place = try TemporaryFolder()
  }

  /// A copy of a fixture, whose files may then be changed.
  convenience init(copying fixture: FixtureCase) throws {
    try self.init(copying: fixture.capture)
  }

  /// A copy of the files of a folder.
  convenience init(copying folder: FilePath) throws {
    try self.init()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.string) {
      try write(name, try Data(contentsOf: URL(filePath: folder.appending(name).string)))
    }
  }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws {
    try Data(bytes).write(to: URL(filePath: path.appending(name).string))
  }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

  func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path.appending(name).string)))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path.appending(name).string)
  }

  /// Files whose names end so.
  func names(ending: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path.string).filter { $0.hasSuffix(ending) }
      .sorted()
  }

  func open() throws -> Capture { try MultiScanSupport.open(path) }
}
