@testable import Media
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// What a damaged stream gives is compared with the ffmpeg program on one thread: with several, its own
/// output changes from run to run.
@Suite("Damaged videos", .enabled(if: FFmpegPeer.isInstalled))
struct VideoDamageTests {
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    case cut, flippedBits, hole, zeros, startBetweenKeyPictures

    var testDescription: String { rawValue }

    func apply(to bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
      var damaged = bytes
      let place = Int.random(in: (bytes.count / 8)..<(bytes.count * 3 / 4), using: &random)
      switch self {
      case .cut: damaged.removeLast(bytes.count - place)
      case .flippedBits:
        for _ in 0..<10 {
          let index = Int.random(in: 1000..<bytes.count, using: &random)
          damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
      case .hole: damaged.removeSubrange(place..<(place + bytes.count / 20))
      case .zeros:
        for index in place..<(place + bytes.count / 30) { damaged[index] = 0 }
      case .startBetweenKeyPictures:
        // From the first picture after the first key picture on (type 1).
        let start = bytes.indices.dropLast(5).first {
          bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1 && bytes[$0 + 3] & 0x1f == 1
        }
        damaged.removeFirst(start ?? 0)
      }
      return damaged
    }
  }

  @Test(
    "A damaged bare stream gives the pictures that ffmpeg gives, whatever the number of threads",
    arguments: Damage.allCases, [0, 3])
  func bareStreams(damage: Damage, bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.h264")
    try FFmpegPeer.makeVideo(
      whole, ["-bf", "\(bFrames)", "-g", "12"] + VideoIdentityTests.x264)
    let bytes = [UInt8](try whole.data())
    var random = SeededGenerator(seed: 11)
    for round in 0..<Rounds.of(2, soak: 4) {
      let file = folder.path.appending("\(round).h264")
      try file.write(damage.apply(to: bytes, &random))
      let expected = try FFmpegPeer.pictures(of: file, threads: 1)
      #expect(!expected.isEmpty)
      expectSame(try decodedPictures(of: file).pictures, expected, "\(damage) \(round)")
      expectSame(
        try decodedPictures(of: file, threads: 3).pictures, expected, "\(damage) \(round), threads")
    }
  }

  @Test("A movie that ends early gives the pictures that are there, and says so")
  func cutMovies() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(
      whole, ["-bf", "2", "-g", "12", "-movflags", "faststart"] + VideoIdentityTests.x264)
    #expect(try VideoIndex.read(whole).endsEarly == false)
    let bytes = [UInt8](try whole.data())
    for part in [40, 55, 70, 90, 99] {
      let file = folder.path.appending("\(part).mp4")
      try file.write(bytes.prefix(bytes.count * part / 100))
      let expected = try FFmpegPeer.pictures(of: file, threads: 1)
      let index = try VideoIndex.read(file)
      #expect(index.endsEarly)
      #expect(index.tracks.first?.pictureCount == expected.count)
      expectSame(try decodedPictures(of: file).pictures, expected, "\(part) %")
    }
  }

  @Test("No movie cut anywhere and none with wrong bytes in its index crashes or hangs")
  func nothingCrashes() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(
      whole, size: "32x32", pictures: 6, ["-movflags", "faststart"] + VideoIdentityTests.x264)
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("damaged.mp4")
    var opened = 0
    func read(_ damaged: [UInt8]) throws {
      try file.write(damaged)
      guard let index = try? VideoIndex.read(file) else { return }
      opened += 1
      #expect(index.tracks.allSatisfy { $0.pictureCount <= 10_000 })
      _ = try? decodedPictures(of: file)
    }
    for count in stride(
      from: 0, to: bytes.count, by: max(1, bytes.count / Rounds.of(50, soak: 150)))
    {
      try read(Array(bytes.prefix(count)))
    }
    var random = SeededGenerator(seed: 5)
    for _ in 0..<Rounds.of(80, soak: 200) {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<min(900, bytes.count), using: &random)] =
          UInt8.random(in: 0...255, using: &random)
      }
      try read(damaged)
    }
    #expect(opened > 8)
  }
}
