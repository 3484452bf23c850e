@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport

/// A Stray Scanner capture in the making.
final class StrayScannerScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "stray-scanner")

  /// What `expected.json` says on top of the other families.
  struct Input: Decodable {
    var input: String
    var colorIndex: [Int?]
  }

  static func folder(of fixture: FixtureCase) throws -> FilePath {
    fixture.folder.pushing(
      FilePath(try fixture.json(Input.self, from: "expected.json").input))
  }

  static func open(_ fixture: FixtureCase) throws -> Capture {
    try open(try folder(of: fixture))
  }

  struct NotRecognized: Error {}

  /// Opens a folder as whoever recognizes it.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
    guard let first = found.first, first.family == .strayScanner else { throw NotRecognized() }
    return try CaptureRegistry.builtIn.open(first)
  }

  convenience init(copyOf name: String) throws {
    guard let fixture = Self.cases.first(where: { $0.name == name }) else { throw NotRecognized() }
    try self.init(copyOf: try Self.folder(of: fixture))
  }

  func open() throws -> Capture { try Self.open(folder) }

  /// Replaces a table's text.
  func edit(_ name: String, _ change: (inout [String]) -> Void) throws {
    var lines = try text(of: name).split(separator: "\n").map(String.init)
    change(&lines)
    try write(lines.map { $0 + "\n" }.joined(), to: name)
  }

  /// Decodes a stream: digests by frame, and issues by code.
  static func decode<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, frames: Int
  ) throws -> (digests: [String?], issues: [WarningCode: Int]) {
    var digests = [String?](repeating: nil, count: frames)
    var issues: [WarningCode: Int] = [:]
    guard case .indexed(let source) = stream.access else { return (digests, issues) }
    for record in 0..<source.recordCount {
      var pixels: [Pixel] = []
      let outcome = try source.decode(record: record, into: &pixels)
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      if outcome.hasPicture, digests.indices.contains(record) {
        let bytes = pixels.flatMap { pixel in
          (0..<Pixel.bitWidth / 8).map { UInt8(truncatingIfNeeded: pixel >> (8 * $0)) }
        }
        digests[record] = Digest(of: bytes).hex
      }
    }
    return (digests, issues)
  }

  /// Warnings of opening and decoding as `code subject`, with counts.
  static func warnings(of capture: Capture) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for warning in capture.warnings {
      counts["\(warning.code.rawValue) \(warning.subject)", default: 0] += warning.count
    }
    if let depth = capture.depth.value {
      for (code, count) in try decode(depth, frames: 0).issues {
        counts["\(code.rawValue) depth", default: 0] += count
      }
    }
    if let confidence = capture.confidence.value {
      for (code, count) in try decode(confidence, frames: 0).issues {
        counts["\(code.rawValue) confidence", default: 0] += count
      }
    }
    return counts
  }

  func warnings() throws -> [String: Int] { try Self.warnings(of: try open()) }
}
