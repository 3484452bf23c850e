import FoundationEssentials
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Synthetic

/// A capture's folder in the making, removed when the test is done with it.
class ScratchCapture {
  private let place: TemporaryFolder
  var outer: FilePath { place.path }
  let folder: FilePath

  init(named name: String) throws {
    place = try TemporaryFolder()
    folder = place.path.appending(name)
    try FileSystem.makeFolder(folder)
  }

  /// A folder of these texts.
  convenience init(named name: String, _ files: [String: String]) throws {
    try self.init(named: name)
    for (name, text) in files { try write(text, to: name) }
  }

  /// A copy of a fixture's capture, or of what it calls its input.
  convenience init(copyOf name: String, of family: String) throws {
    let fixture = try #require(Fixtures.cases(of: family).first { $0.name == name })
    try self.init(copyOf: try fixture.input)
  }

  /// A copy of a fixture's capture.
  convenience init(copyOf fixture: FilePath) throws {
    try self.init(named: "capture")
    try FileManager.default.removeItem(atPath: folder.string)
    try fixture.copy(to: folder)
  }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  /// Makes the folders of `name` where they are missing.
  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    let path = folder.appending(name)
    try FileSystem.makeFolder(path.removingLastComponent())
    try Data(bytes).write(to: URL(filePath: path.string))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: folder.appending(name).string)
  }

  func rename(_ name: String, to other: String) throws {
    try folder.appending(name).move(to: folder.appending(other))
  }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try folder.appending(name).data())
  }

  func text(of name: String) throws -> String {
    String(decoding: try bytes(of: name), as: UTF8.self)
  }

  /// Names of its entries, in order.
  var names: [String] {
    ((try? FileSystem.names(in: folder)) ?? []).sorted()
  }

  func link(_ name: String, to target: FilePath) throws {
    try folder.appending(name).link(to: target.string)
  }

  /// Opens the folder as whoever recognizes it.
  func open() throws -> Capture { try .found(at: folder) }

  /// Who recognizes the folder.
  func recognized() throws -> [Recognition] {
    CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
  }

  /// The folder as this family's, whether or not it would be recognized.
  func recognition(as family: CaptureFamily) -> Recognition {
    Recognition(
      family: family, certainty: .certain, folder: folder, id: folder.lastComponent?.string ?? "",
      reason: "test")
  }
}

/// A change of a capture, and all that must be told of it: counts by code and subject.
struct ChangedCapture<Scratch: ScratchCapture>: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let told: [String: Int]
  /// The fixture that is changed, where it is not the usual one.
  let copyOf: String?
  let change: @Sendable (Scratch) throws -> Void

  init(
    _ testDescription: String, _ told: [String: Int], of copyOf: String? = nil,
    _ change: @escaping @Sendable (Scratch) throws -> Void
  ) {
    (self.testDescription, self.told) = (testDescription, told)
    (self.copyOf, self.change) = (copyOf, change)
  }
}

/// A small capture of the synthesizer, made once for all tests that read or copy it: they need no fixtures.
struct MadeCapture: Hashable, Sendable, CustomTestStringConvertible {
  var family: String
  var generation: String?
  var faults: [String] = []
  /// As many as most faults need.
  var frames = 10
  /// Width of the stored pictures.
  var width = 64
  var height = 48

  var testDescription: String {
    ([generation ?? family] + faults).joined(separator: " ")
  }

  /// Its folder, which nobody may change. Cost: at the first call the synthesis, some tenths of a second.
  func folder() throws -> FilePath {
    try Self.made.withLock { made in
      if let folder = made[self] { return folder }
      var options = SynthesisOptions(
        output: try TemporaryFolder.ofThisProcess().appending("made-\(made.count)"))
      options.generation = generation
      options.faults = faults
      options.frames = frames
      options.width = width
      options.height = height
      // What noise adds is incompressible: larger files, and nothing else to find.
      options.noise = 0
      options.roomIsEmpty = true
      options.truthPictures = 0
      options.id = "made"
      let folder = try SyntheticFamilies.write(family, options).folder
      made[self] = folder
      return folder
    }
  }

  /// One of each generation of a family.
  static func generations(of family: String) -> [MadeCapture] {
    (SyntheticFamilies.generations(of: family) ?? []).map {
      MadeCapture(family: family, generation: $0)
    }
  }

  private static let made = Mutex<[MadeCapture: FilePath]>([:])
}

extension FixtureCase {
  private struct Named: Decodable { var input: String? }

  /// The capture's folder or file, under whatever name the case keeps it.
  var input: FilePath {
    get throws {
      let named = try json(Named.self, from: "expected.json").input
      return named.map { folder.pushing(FilePath($0)) } ?? capture
    }
  }

  /// Opened as the one capture that it is recognized as for certain.
  func certainCapture() throws -> Capture {
    let found = CaptureRegistry.builtIn.recognizeFolder(try FolderListing(of: capture))
    let recognition = try #require(found.first)
    #expect(found.count == 1 && recognition.certainty == .certain)
    return try CaptureRegistry.builtIn.open(recognition)
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

/// Moves the parts of an MP4 or QuickTime file, as a recorder or an editor might have written them.
struct MovieBoxes {
  private var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The movie with its index in front, so that a copy that breaks off has it.
  ///
  /// - Parameter tracks: 2: the video track is listed twice.
  func indexFirst(tracks: Int = 1) -> [UInt8]? {
    let top = Self.boxes(bytes[...])
    guard let moov = top.first(where: { $0.type == "moov" }), let first = top.first,
      first.type == "ftyp"
    else { return nil }
    var index = Array(bytes[moov.range])
    if tracks == 2 {
      let tracks = Self.boxes(index[8...]).filter { $0.type == "trak" }
      guard
        let video = tracks.first(where: { Self.find("vide", in: index[$0.range]) != nil }),
        let head = Self.find("tkhd", in: index[video.range])
      else { return nil }
      var copy = Array(index[video.range])
      // Version and flags, then two times of 4 bytes, or of 8 in version 1.
      let id = head - video.range.lowerBound + 4 + 4 + (index[head + 4] == 1 ? 16 : 8)
      copy.replaceSubrange(id..<id + 4, with: [0, 0, 0, 99])
      index += copy
      Self.put(index.count, at: 0, in: &index)
    }
    let isBehind = top.contains { $0.type == "mdat" && $0.range.lowerBound < moov.range.lowerBound }
    let shift = index.count - (isBehind ? 0 : moov.range.count)
    var from = index.startIndex
    while let table = Self.find("stco", in: index[from...]) {
      let count = Self.number(index, at: table + 8)
      for entry in 0..<count {
        let place = table + 12 + 4 * entry
        Self.put(Self.number(index, at: place) + shift, at: place, in: &index)
      }
      from = table + 4
    }
    return Array(bytes[first.range]) + index
      + top.dropFirst().filter { $0.type != "moov" }.flatMap { bytes[$0.range] }
  }

  /// The movie with another display matrix: the numbers that make x and y of x, then those of y.
  func turned(_ matrix: [Int]) -> [UInt8]? {
    guard let head = Self.find("tkhd", in: bytes[...]) else { return nil }
    var turned = bytes
    let place = head + (bytes[head + 4] == 1 ? 56 : 44)
    for (index, number) in zip([0, 1, 3, 4], matrix) {
      Self.put(number << 16, at: place + 4 * index, in: &turned)
    }
    return turned
  }

  private typealias Box = (type: String, range: Range<Int>)

  private static func boxes(_ bytes: ArraySlice<UInt8>) -> [Box] {
    var boxes: [Box] = []
    var start = bytes.startIndex
    let all = Array(bytes)
    while start + 8 <= bytes.endIndex {
      let at = start - bytes.startIndex
      var size = number(all, at: at)
      if size == 1 { size = number(all, at: at + 12) }
      guard size >= 8, start + size <= bytes.endIndex else { break }
      let type = String(decoding: all[at + 4..<at + 8], as: UTF8.self)
      boxes.append((type, start..<start + size))
      start += size
    }
    return boxes
  }

  /// Where four characters stand.
  private static func find(_ type: String, in bytes: ArraySlice<UInt8>) -> Int? {
    let wanted = Array(type.utf8)
    return bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(wanted) }
  }

  private static func number(_ bytes: [UInt8], at place: Int) -> Int {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func put(_ number: Int, at place: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 {
      bytes[place + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
    }
  }
}
