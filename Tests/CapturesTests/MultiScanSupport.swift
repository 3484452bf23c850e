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

/// A capture in the making.
final class MultiScanFolder: ScratchCapture {
  var path: FilePath { folder }

  convenience init() throws { try self.init(named: "capture") }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws { try write(bytes, to: name) }
  func write(_ name: String, _ text: String) throws { try write(text, to: name) }

  /// Files whose names end so.
  func names(ending: String) -> [String] { names.filter { $0.hasSuffix(ending) } }

  func open() throws -> Capture { try MultiScanSupport.open(folder) }
}
