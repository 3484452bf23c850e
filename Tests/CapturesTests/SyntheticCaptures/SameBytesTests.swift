@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@testable import Media

/// What was rendered before rendering became faster: a seed means the same scene for ever.
@Suite("A seed gives the bytes that it gave to earlier versions")
struct SameBytesTests {
  private func options(_ folder: TemporaryFolder, seed: UInt64, frames: Int) -> SynthesisOptions {
    var options = SynthesisOptions(output: folder.path)
    options.seed = seed
    options.frames = frames
    options.id = "scan"
    return options
  }

  /// The first 16 digits of the digest of some files, one after the other.
  private func digest(_ files: [FilePath]) throws -> String {
    String(Digest(of: try files.flatMap { try FileBytes.read($0) }).hex.prefix(16))
  }

  @Test(
    "Times, poses, sensors and depth of every family",
    arguments: [
      ("scannet", "64be40fe70604404"), ("arkit-scanner", "f4771f9be46ed5db"),
      ("multiscan", "5f592e4832397edb"), ("vi-slam", "f7a6e2362ed47d2c"),
      ("strabo", "94f1a49b1678cfdf"), ("stray-scanner", "a9a6467330a289da"),
      ("3d-scanner-app", "a1330be5b77da537"), ("record3d", "32f1f952bddde9b6"),
      ("polycam", "05b3e96ac79ffb22"),
    ])
  func families(_ family: String, _ expected: String) throws {
    let folder = try TemporaryFolder()
    var options = options(folder, seed: 3, frames: 8)
    options.width = 96
    options.height = 64
    options.truthPictures = 2
    let truth = try SyntheticFamilies.write(family, options).truth
    #expect(
      try digest([truth.appending("expected.json"), truth.appending("depth_poses.csv")])
        == expected)
  }

  /// A picture, and how it is taken.
  struct Shot: Sendable, CustomTestStringConvertible {
    var seed: UInt64
    var frames = 8
    var size = (width: 130, height: 98)
    var rate = 30.0
    var exposure = 1.0 / 60
    var noise = 1.0
    var hasCode = false
    var isEmpty = false
    var digest: String

    var testDescription: String { "seed \(seed)" }
  }

  // No side is a multiple of the groups of pixels that are computed together.
  @Test(
    "Color, pixel by pixel: sharp and blurred, with and without noise, beyond the borders",
    arguments: [
      Shot(seed: 3, digest: "c24e4fb7c6270614"),
      Shot(seed: 4, rate: 3, exposure: 0.1, digest: "75219d3be3fc07ac"),
      Shot(seed: 5, rate: 2, exposure: 1, noise: 4, digest: "6723fb30f71f3eba"),
      Shot(seed: 6, rate: 2, exposure: 0, noise: 0, digest: "3b7e58544d548d3f"),
      Shot(seed: 7, frames: 4, size: (18, 16), hasCode: true, digest: "94e635e8d7cad8c9"),
      Shot(seed: 8, frames: 4, rate: 1, isEmpty: true, digest: "9f693560015b1a32"),
    ])
  func color(_ shot: Shot) throws {
    let folder = try TemporaryFolder()
    var options = options(folder, seed: shot.seed, frames: shot.frames)
    options.generation = "android-wide"
    options.width = shot.size.width
    options.height = shot.size.height
    options.rate = shot.rate
    options.exposureSeconds = shot.exposure
    options.noise = shot.noise
    options.showsFrameCode = shot.hasCode
    options.roomIsEmpty = shot.isEmpty
    // The family whose pictures are PNG files.
    let pictures = try SyntheticFamilies.write("vi-slam", options).folder.appending("frames")
    let names = try FileSystem.names(in: pictures).sorted()
    #expect(names.count == shot.frames)
    let pixels = try names.flatMap {
      try StillImage.read(pictures.appending($0)).picture.rgb
    }
    #expect(String(Digest(of: pixels).hex.prefix(16)) == shot.digest)
  }
}
