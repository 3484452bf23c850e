@testable import Captures
@testable import Core
import FoundationEssentials
import Synchronization
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// A capture's folder in the making, removed when the test is done with it.
class ScratchCapture {
  private let place: TemporaryFolder
  var outer: FilePath { place.path }
  let folder: FilePath

  init(named name: String) throws {
    place = try TemporaryFolder()
    folder = place.path.appending(name)
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
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
    try FileManager.default.copyItem(atPath: fixture.string, toPath: folder.string)
  }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  /// Makes the folders of `name` where they are missing.
  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    let path = folder.appending(name)
    try FileManager.default.createDirectory(
      atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: path.string))
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

  func text(of name: String) throws -> String {
    String(decoding: try bytes(of: name), as: UTF8.self)
  }

  /// Names of its entries, in order.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []).sorted()
  }

  func link(_ name: String, to target: FilePath) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(name).string, withDestinationPath: target.string)
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
