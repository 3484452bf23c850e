import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite(
  "Pictures are those of the ffmpeg command line", .runsPrograms,
  .enabled(if: FFmpegPeer.isInstalled))
struct VideoIdentityTests {
  @Test("Every video among the fixtures", arguments: Rounds.every(2, of: VideoFixtures.all))
  func fixtures(_ fixture: VideoFixture) throws {
    let expected = try FFmpegPeer.pictures(of: fixture.file)
    guard !expected.isEmpty else {
      #expect(throws: VideoError.self) { try decodedPictures(of: fixture.file) }
      return
    }
    let index = try VideoIndex.read(fixture.file)
    let decoded = try decodedPictures(of: fixture.file)
    expectSame(decoded.pictures, expected, "\(fixture)")
    #expect(index.tracks.first?.pictureCount == expected.count)
    #expect(decoded.indices == Array(0..<decoded.pictures.count))
    #expect(index.tracks.first?.pictureCount == decoded.pictures.count)
    #expect(index.tracks.first?.uprightWidth == expected[0].width)
    #expect(index.tracks.first?.uprightHeight == expected[0].height)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var file: String
    var size = "160x120"
    var pictures = 20
    var filter = "null"
    var options: [String]
  }

  static let x264 = ["-c:v", "libx264", "-preset", "veryfast"]

  static let cases: [Case] =
    ["tv", "pc"].flatMap { range in
      ["bt709", "smpte170m", "bt2020nc", "fcc", "smpte240m"].map { matrix in
        Case(
          testDescription: "tagged \(range) \(matrix)", file: "a.mp4", pictures: 5,
          filter: "scale=out_range=\(range)",
          options: ["-color_range", range, "-colorspace", matrix] + x264)
      }
    } + [
      Case(testDescription: "untagged, B pictures", file: "a.mp4", options: ["-bf", "3"] + x264),
      Case(testDescription: "bare stream", file: "a.h264", options: ["-bf", "0"] + x264),
      Case(
        testDescription: "bare stream, B pictures", file: "a.h264", options: ["-bf", "3"] + x264),
      Case(
        testDescription: "bare stream, slices", file: "a.h264", options: ["-slices", "4"] + x264),
      Case(
        testDescription: "bare stream, interlaced", file: "a.h264",
        options: ["-flags", "+ilme+ildct"] + x264),
      Case(
        testDescription: "bare stream, a pyramid of B pictures, open groups", file: "a.h264",
        pictures: 60,
        options: [
          "-bf", "7", "-g", "13", "-refs", "8", "-x264-params",
          "b-pyramid=normal:open-gop=1:b-adapt=0:weightp=2:scenecut=0",
        ] + x264),
      Case(
        testDescription: "open groups of B pictures", file: "a.mp4", pictures: 60,
        options: ["-bf", "5", "-g", "11", "-x264-params", "open-gop=1:b-adapt=0:slices=3"] + x264),
      Case(
        testDescription: "Matroska, B pictures", file: "a.mkv", pictures: 40,
        options: ["-bf", "4", "-g", "9"] + x264),
      Case(
        testDescription: "HEVC, B pictures", file: "a.mp4", pictures: 40,
        options: ["-c:v", "libx265", "-x265-params", "bframes=6:b-adapt=0:keyint=12:open-gop=1"]),
      Case(
        testDescription: "HEVC, Matroska", file: "a.mkv", pictures: 40,
        options: ["-c:v", "libx265", "-x265-params", "bframes=4:keyint=12:open-gop=0"]),
      Case(
        testDescription: "bare stream, fields made of frames", file: "a.h264",
        options: ["-bf", "2", "-x264-params", "fake-interlaced=1"] + x264),
      Case(
        testDescription: "MPEG-4 part 2", file: "a.mp4",
        options: ["-c:v", "mpeg4", "-bf", "2", "-q:v", "4"]),
      Case(
        testDescription: "MPEG-4 part 2 in QuickTime", file: "a.mov",
        options: ["-c:v", "mpeg4", "-q:v", "4"]),
      Case(
        testDescription: "H.263", file: "a.mov", size: "176x144",
        options: ["-c:v", "h263", "-q:v", "4"]),
      Case(testDescription: "Motion JPEG", file: "a.mov", options: ["-c:v", "mjpeg", "-q:v", "4"]),
      Case(testDescription: "ProRes", file: "a.mov", options: ["-c:v", "prores_ks"]),
      Case(testDescription: "324x242", file: "a.mp4", size: "324x242", options: x264),
      Case(
        testDescription: "1296x968", file: "a.h264", size: "1296x968", pictures: 3, options: x264),
      Case(
        testDescription: "1298x970", file: "a.mp4", size: "1298x970", pictures: 2, options: x264),
      Case(testDescription: "6x4", file: "a.mp4", size: "6x4", options: x264),
      Case(
        testDescription: "variable rate", file: "a.mp4",
        filter: "select='not(mod(n,3)-1)+not(mod(n,7))'", options: ["-bf", "2"] + x264),
      Case(testDescription: "Matroska", file: "a.mkv", options: x264),
      Case(testDescription: "QuickTime", file: "a.mov", options: x264),
      Case(testDescription: "HEVC", file: "a.mp4", options: ["-c:v", "libx265"]),
      Case(testDescription: "4:4:4", file: "a.mp4", options: ["-pix_fmt", "yuv444p"] + x264),
      Case(testDescription: "4:2:2", file: "a.mp4", options: ["-pix_fmt", "yuv422p"] + x264),
      Case(
        testDescription: "fragmented", file: "a.mp4",
        options: ["-movflags", "frag_keyframe+empty_moov"] + x264),
      Case(
        testDescription: "index first", file: "a.mp4", options: ["-movflags", "faststart"] + x264),
    ]

  @Test("Synthetic videos", arguments: cases)
  func synthetic(_ example: Case) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending(example.file)
    try FFmpegPeer.makeVideo(
      file, size: example.size, pictures: example.pictures, filter: example.filter, example.options)
    let expected = try FFmpegPeer.pictures(of: file)
    let decoded = try decodedPictures(of: file)
    expectSame(decoded.pictures, expected, "\(example.testDescription)")
    let threaded = try decodedPictures(of: file, threads: 3)
    expectSame(threaded.pictures, expected, "\(example.testDescription), three threads")
    let track = try VideoIndex.read(file).tracks.first
    #expect(track?.pictureCount == expected.count)
    #expect(decoded.indices == Array(0..<decoded.pictures.count))
    #expect(track?.pictureCount == decoded.pictures.count)
    #expect(decoded.counts.pictures == expected.count)
    #expect(decoded.counts.damageMessages == 0)
    #expect(decoded.counts.damagedPictures == 0)
    #expect(track?.uprightWidth == expected.first?.width)
    #expect(track?.uprightHeight == expected.first?.height)
  }

  @Test(
    "Whoever ignores edit lists gets all pictures, as ffmpeg -ignore_editlist 1 does",
    arguments: [
      ["-bf", "2", "-g", "12"] + x264,
      ["-c:v", "libx265", "-x265-params", "bframes=3:keyint=12:open-gop=0:log-level=none"],
    ])
  func ignoredEditList(encoder: [String]) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    let file = folder.path.appending("cut.mp4")
    try FFmpegPeer.makeVideo(whole, encoder)
    try PeerProgram.ffmpeg.run([
      "-nostdin", "-v", "error", "-ss", "0.55", "-i", "\(whole)", "-c", "copy", "\(file)",
    ])
    let shown = try FFmpegPeer.pictures(of: file)
    let expected = try FFmpegPeer.pictures(of: file, ["-ignore_editlist", "1"])
    #expect(expected.count > shown.count)
    let track = try #require(try VideoIndex.read(file, ignoresEditList: true).tracks.first)
    #expect(track.pictureCount == expected.count)
    let decoded = try decodedPictures(of: file, order: track.order)
    expectSame(decoded.pictures, expected, "all pictures")
    #expect(decoded.indices == Array(0..<expected.count))
    var keys: [Int?] = []
    _ = try KeyPictures.read(
      file, order: track.order, orientation: track.orientation, wanted: [0]
    ) { keys.append($0.displayIndex) }
    #expect(keys == [0])
  }
}

/// The videos of all fixtures.
enum VideoFixtures {
  static let all: [VideoFixture] =
    ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"].flatMap { family in
      Fixtures.cases(of: family).flatMap { fixture in
        let names = try? FileSystem.names(in: fixture.capture)
        return (names ?? []).sorted().filter { name in
          [".h264", ".mp4", ".mov", ".mkv"].contains { name.hasSuffix($0) }
        }.map {
          VideoFixture(
            testDescription: "\(family)/\(fixture.name)/\($0.suffix(16))",
            file: fixture.capture.appending($0))
        }
      }
    }
}

struct VideoFixture: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var file: FilePath
}

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
