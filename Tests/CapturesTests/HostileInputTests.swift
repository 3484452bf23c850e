@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Synthetic
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

  @Test(arguments: SyntheticFamilies.names, Damage.allCases)
  func `recognizing, opening and decoding come to an end`(
    _ family: String, _ damage: Damage
  ) throws {
    var random = SeededGenerator(seed: UInt64(family.utf8.count * 31))
    let folders = try MadeCapture.generations(of: family).map { try $0.folder() }
      .filter { FileSystem.isFolder($0) }
    var opened = 0
    for _ in 0..<Rounds.of(6, soak: 400) {
      let scratch = try ScratchCapture(copyOf: try #require(folders.randomElement(using: &random)))
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
          try found.expectSane()
        } catch let error as CaptureError {
          #expect(!error.description.contains("\n"))
        }
      }
    }
    #expect(opened > 0)
  }
}

/// Every kind of file of every generation of every family, and of what apps leave that are killed.
@Suite struct `Captures whose files end anywhere` {
  static let made =
    SyntheticFamilies.names.flatMap(MadeCapture.generations)
    + ["killed-app", "gzip-depth", "two-streams"].map {
      MadeCapture(family: "multiscan", faults: [$0])
    }
    + ["killed-app", "corrupt-depth", "count-minus-1", "dropped-color", "imu-head8", "stale-times"]
    .map { MadeCapture(family: "scannet", faults: [$0]) }
    + ["no-z", "dropped-pictures"].map { MadeCapture(family: "vi-slam", faults: [$0], frames: 60) }

  @Test(arguments: made)
  func `what is left opens or says why not`(_ made: MadeCapture) throws {
    let folder = try made.folder()
    // The archives of Record3D are cut by a test of their own.
    guard FileSystem.isFolder(folder) else { return }
    let scratch = try ScratchCapture(copyOf: folder)
    let recognition = try #require(CaptureFinder(.builtIn).find(scratch.folder).captures.first)
    let whole = try CaptureRegistry.builtIn.open(recognition)
    for file in try EmptyFileTests.kinds(of: folder) {
      let bytes = try scratch.bytes(of: file)
      let cuts = Rounds.of(4, soak: 48)
      for cut in 0..<cuts {
        try scratch.write(bytes.prefix(bytes.count * cut / cuts + cut), to: file)
        do {
          let left = try CaptureRegistry.builtIn.open(recognition)
          #expect(left.frames.count <= 2 * whole.frames.count, "\(file)")
          try left.expectSane()
        } catch let error as CaptureError {
          #expect(!error.problem.isEmpty)
        }
      }
      try scratch.write(bytes, to: file)
    }
    #expect(try CaptureRegistry.builtIn.open(recognition).frames == whole.frames)
  }
}

extension Capture {
  /// What holds for every capture, however damaged; decodes it.
  func expectSane(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(frames.count <= 5000, sourceLocation: location)
    #expect(warnings.allSatisfy { $0.count > 0 }, sourceLocation: location)
    for row in poses.value?.rows ?? [] {
      #expect(frames.indices.contains(row.frame), sourceLocation: location)
      let q = row.pose.orientation
      let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w
      #expect(abs(length - 1) < 0.05, sourceLocation: location)
    }
    #expect(
      (intrinsics.value ?? []).allSatisfy { frames.indices.contains($0.frame) },
      sourceLocation: location)
    let samples = imu.value?.samples ?? []
    #expect(
      samples.allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite },
      sourceLocation: location)
    _ = try StreamScan(self, budget: CoreBudget(cores: 1))
  }
}
