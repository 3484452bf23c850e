@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Coded pictures in a new container")
struct VideoRemuxTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    var container: VideoEncoderSettings.Container
    var codec = VideoEncoderSettings.Codec.h264
    var bFrames = 0
    var testDescription: String { "\(codec) in \(container), \(bFrames) B-frames" }
  }

  /// Pictures that nobody confuses: brightness rises with the number, over a texture that makes every
  /// picture follow from the one before.
  static func picture(_ number: Int) -> ColorImage {
    var random = SeededGenerator(seed: 9)
    var picture = ColorImage(width: 64, height: 48)
    for index in picture.rgb.indices {
      picture.rgb[index] = UInt8.random(in: 20...120, using: &random) + UInt8(8 * number)
    }
    return picture
  }

  static func encode(_ kind: Kind, _ count: Int = 14, to file: FilePath) throws {
    var settings = VideoEncoderSettings(width: 64, height: 48, container: kind.container)
    settings.codec = kind.codec
    settings.bFrames = kind.bFrames
    settings.keyFrameInterval = 6
    let encoder = try VideoEncoder(file, settings)
    for number in 0..<count { try encoder.append(picture(number), ticks: Int64(20 * number)) }
    try encoder.finish()
  }

  private static func remux(
    _ file: FilePath, to copy: FilePath, times: [Int64]
  ) throws -> Bool {
    let track = try #require(try VideoIndex.read(file).tracks.first)
    let output = try FileDescriptor.open(
      copy, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    defer { try? output.close() }
    return try VideoRemux.mp4(
      file, container: .any, track: track.number, order: track.order, microseconds: times,
      to: output, at: copy)
  }

  @Test(
    "Picture n is picture n, shown at its time; the same bytes twice",
    arguments: [
      Kind(container: .mp4), Kind(container: .mov, bFrames: 2), Kind(container: .annexB),
      Kind(container: .annexB, bFrames: 2), Kind(container: .matroska, bFrames: 3),
      Kind(container: .mov, codec: .hevc, bFrames: 2),
    ])
  func same(_ kind: Kind) throws {
    let folder = try TemporaryFolder()
    let (file, copy, again) = (
      folder.path.appending("a"), folder.path.appending("b.mp4"), folder.path.appending("c.mp4")
    )
    try Self.encode(kind, to: file)
    // Uneven steps, one of them a microsecond.
    let times = (0..<14).map { (number: Int) -> Int64 in
      let even = Int64(33_333 * number)
      return even + Int64(100 * number * number) + (number == 7 ? 1 : 0)
    }
    #expect(try Self.remux(file, to: copy, times: times))
    #expect(try Self.remux(file, to: again, times: times))
    let track = try #require(try VideoIndex.read(copy).tracks.first)
    #expect(track.pictureCount == 14)
    #expect(
      track.presentationTicks.compactMap { track.timeBase.nanoseconds(ofTicks: $0) }
        == times.map { $0 * 1000 })
    let (before, after) = (try decodedPictures(of: file), try decodedPictures(of: copy))
    #expect(after.pictures == before.pictures)
    #expect(after.pictures.count == 14)
    #expect(try Digest(ofFileAt: copy) == Digest(ofFileAt: again))
  }

  @Test("A stream that lost a picture is not taken, nor one with another number of times")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let (file, copy) = (folder.path.appending("a.h264"), folder.path.appending("b.mp4"))
    try Self.encode(Kind(container: .annexB), to: file)
    #expect(try !Self.remux(file, to: copy, times: (0..<15).map { Int64($0) }))
    let whole = [UInt8](try file.data())
    var refusals = 0
    for lost in VideoHoleTests.slices(of: whole) {
      var bytes = whole
      bytes.removeSubrange(lost.lowerBound - 3..<lost.upperBound)
      try file.write(bytes)
      let count = try #require(try VideoIndex.read(file).tracks.first).order.count
      if try Self.remux(file, to: copy, times: (0..<count).map { Int64($0) }) {
        // Nothing tells that one is missing: what is there is there as it was.
        #expect(count == 13)
      } else {
        refusals += 1
      }
    }
    #expect(refusals >= 6, "\(refusals)")
  }
}

@Suite("Video without loss")
struct LosslessVideoTests {
  @Test(
    "Pictures come back pixel by pixel, in their order", arguments: [(64, 48), (7, 5), (16, 2)])
  func pixels(width: Int, height: Int) throws {
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 5)
    let pictures = (0..<5).map { _ in
      ColorImage(
        width: width, height: height,
        rgb: (0..<width * height * 3).map { _ in .random(in: 0...255, using: &random) })
    }
    var digests: Set<Digest> = []
    for name in ["a.mkv", "b.mkv"] {
      let path = folder.path.appending(name)
      let output = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
      let file = try LosslessVideoFile(output, at: path, width: width, height: height)
      // Encoders may be many, in any order.
      let encoders = try (0..<2).map { _ in
        try LosslessVideoEncoder(width: width, height: height, name: path)
      }
      for (number, picture) in pictures.enumerated() {
        let encoder = name == "a.mkv" ? encoders[0] : encoders[number % 2]
        try file.append(try encoder.encode(picture), microseconds: Int64(number) * 33_000)
      }
      try file.finish()
      try output.close()
      #expect(try decodedPictures(of: path).pictures == pictures)
      digests.insert(try Digest(ofFileAt: path))
    }
    #expect(digests.count == 1)
  }
}
