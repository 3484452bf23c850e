import FoundationEssentials
@testable import Core
import Synchronization
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

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
