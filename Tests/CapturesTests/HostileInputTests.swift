@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Seeded damage in the small files of whole captures: whatever comes of it, opening and decoding come to an
/// end, and what cannot be read says so with the file's name. `.ci/fuzz` runs thousands of such inputs
/// of the families with one file per picture under the address sanitizer.
@Suite struct `Captures with damage at random places` {
  enum Damage: CaseIterable {
    case cut, flip, largeNumber, zeros, swap, repeated

    func apply(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
      guard bytes.count > 8 else { return bytes.removeAll() }
      let place = Int.random(in: 0..<bytes.count - 8, using: &random)
      switch self {
      case .cut: bytes.removeLast(bytes.count - place)
      case .flip:
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
        }
      case .largeNumber:
        let numbers: [[UInt8]] = [
          [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F],
          Array("1e308".utf8), Array("-0".utf8), Array("99999999".utf8), Array("NaN".utf8),
        ]
        let number = numbers[Int.random(in: 0..<numbers.count, using: &random)]
        bytes.replaceSubrange(place..<place + number.count, with: number)
      case .zeros:
        for index in place..<min(bytes.count, place + 64) { bytes[index] = 0 }
      case .swap:
        let piece = Array(bytes[place..<place + 8])
        bytes.removeSubrange(place..<place + 8)
        bytes += piece
      case .repeated: bytes += bytes.prefix(place)
      }
    }
  }

  static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  @Test(arguments: families, Damage.allCases)
  func `opening comes to an end`(_ family: String, _ damage: Damage) throws {
    var random = SeededGenerator(seed: UInt64(family.utf8.count * 31 + Damage.allCases.count))
    let examples = MadeCapture.generations(of: family)
    var opened = 0
    for _ in 0..<8 {
      let example = try #require(examples.randomElement(using: &random))
      let scratch = try TemporaryFolder()
      let capture = scratch.path.appending("capture")
      try FileManager.default.copyItem(
        atPath: try example.folder().string, toPath: capture.string)
      let files = try FileSystem.names(in: capture).filter {
        guard let identity = try? FileIdentity(of: capture.appending($0)) else { return false }
        return (1..<1 << 20).contains(identity.bytes)
      }
      guard let name = files.randomElement(using: &random) else { continue }
      let path = capture.appending(name)
      var bytes = try InputFile(path).whole(limit: InputLimits.bytesOfPicture)
      damage.apply(to: &bytes, &random)
      try Data(bytes).write(to: URL(filePath: path.string))
      for recognition in OutsideLinks.registry.recognize(try FolderListing(of: capture)) {
        do {
          let found = try OutsideLinks.registry.open(recognition)
          opened += 1
          _ = try StreamScan(found, budget: CoreBudget(cores: 1))
        } catch let error as CaptureError {
          #expect(!error.description.contains("\n"))
        }
      }
    }
    #expect(opened > 0)
  }

  /// Families of many small files, and of one.
  @Test(
    .enabled(if: Fixtures.arePresent),
    arguments: ["stray-scanner", "3d-scanner-app", "record3d"], Damage.allCases)
  func `recognizing, opening and decoding come to an end`(
    _ family: String, _ damage: Damage
  ) throws {
    var random = SeededGenerator(seed: UInt64(family.utf8.count))
    let cases = Fixtures.cases(of: family)
    var opened = 0
    for _ in 0..<Rounds.of(2, soak: 400) {
      let example = try #require(cases.randomElement(using: &random))
      let scratch = try ScratchCapture(copyOf: example.capture)
      let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.folder.string)
        .sorted()
        .filter {
          let bytes = try? FileIdentity(of: scratch.folder.pushing(FilePath($0))).bytes
          return bytes.map { (1..<1 << 20).contains($0) } ?? false
        }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        guard let name = files.randomElement(using: &random),
          var bytes = try? scratch.bytes(of: name)
        else { continue }
        damage.apply(to: &bytes, &random)
        try scratch.write(bytes, to: name)
      }
      for recognition in CaptureFinder(.builtIn).find(scratch.folder).captures {
        do {
          let found = try CaptureRegistry.builtIn.open(recognition)
          opened += 1
          _ = try StreamScan(found, budget: CoreBudget(cores: 1))
        } catch let error as CaptureError {
          #expect(!error.description.contains("\n"))
        }
      }
    }
    #expect(opened > 0)
  }
}
