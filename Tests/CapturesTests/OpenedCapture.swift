@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

extension FixtureCase {
  private struct Named: Decodable { var input: String? }

  /// The capture's folder or file, under whatever name the case keeps it.
  var input: FilePath {
    get throws {
      let named = try json(Named.self, from: "expected.json").input
      return named.map { folder.pushing(FilePath($0)) } ?? capture
    }
  }
}

extension Capture {
  struct NotRecognized: Error {}

  /// Opens what a folder or file is recognized as.
  static func found(at path: FilePath) throws -> Capture {
    guard let found = CaptureFinder(.builtIn).find(path).captures.first else {
      throw NotRecognized()
    }
    return try CaptureRegistry.builtIn.open(found)
  }

  /// Opens a small input after a public report.
  static func report(_ name: String) throws -> Capture {
    try found(at: try #require(Fixtures.reports).pushing(FilePath(name)))
  }

  /// The warnings of opening and of decoding every picture. A color picture that can be decoded can be
  /// copied, and no other.
  func allWarnings() throws -> [CaptureWarning] {
    if case .pictures(let pictures)? = color.value?.source {
      for index in 0..<pictures.count {
        let (stored, decoded) = (try pictures.stored(index), try pictures.decode(index))
        #expect((stored.bytes == nil) == (decoded.picture == nil))
        #expect(stored.issue?.code == decoded.issue?.code)
      }
    }
    return warnings + (try StreamScan(self, budget: CoreBudget(cores: 2)).warnings)
  }

  /// Their counts by code and subject.
  func allCounts() throws -> [String: Int] { try allWarnings().countsBySubject }

  /// Counts of the warnings of opening, by code.
  var warningCounts: [String: Int] { warnings.countsByCode }

  var nanoseconds: [Int64?] { frames.map { $0.timestamp?.nanoseconds } }
}

extension Trait where Self == ConditionTrait {
  static var needsReports: Self { .enabled(if: Fixtures.reports != nil, "no ../shared/cases") }
}

extension Sequence<CaptureWarning> {
  var countsByCode: [String: Int] {
    reduce(into: [:]) { $0[$1.code.rawValue, default: 0] += $1.count }
  }

  var countsBySubject: [String: Int] {
    reduce(into: [:]) { $0["\($1.code.rawValue) \($1.subject)", default: 0] += $1.count }
  }
}

extension PictureStream {
  struct OtherAccess: Error {}

  /// Its records, which can be decoded each by itself.
  var indexed: any IndexedFrameSource<Pixel> {
    get throws {
      guard case .indexed(let source) = access else { throw OtherAccess() }
      return source
    }
  }

  /// Its records, which have to be read in their order.
  var ordered: any OrderedFrameSource<Pixel> {
    get throws {
      guard case .ordered(let source) = access else { throw OtherAccess() }
      return source
    }
  }

  /// Decodes every record.
  func decode(_ take: (_ record: Int, RecordOutcome, [Pixel]) -> Void) throws {
    var pixels: [Pixel] = []
    switch access {
    case .indexed(let source):
      for record in 0..<source.recordCount {
        take(record, try source.decode(record: record, into: &pixels), pixels)
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      for record in 0..<source.recordCount {
        take(record, try #require(try reader.next(into: &pixels)), pixels)
      }
      #expect(try reader.next(into: &pixels) == nil)
    }
  }

  /// The pixels of each frame that has a picture.
  func pictures() throws -> [Int: [Pixel]] {
    var pictures: [Int: [Pixel]] = [:]
    try decode { record, outcome, pixels in
      if outcome.hasPicture { pictures[firstFrame + record] = pixels }
    }
    return pictures
  }
}

extension PictureStream where Pixel: FixedWidthInteger {
  /// The digest of each frame's picture; at least as many as `frames`.
  func digests(frames: Int = 0) throws -> [String?] {
    var digests = [String?](
      repeating: nil, count: Swift.max(frames, firstFrame + access.recordCount))
    try decode { record, outcome, pixels in
      if outcome.hasPicture { digests[firstFrame + record] = Digest(ofPixels: pixels).hex }
    }
    return digests
  }
}
