@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What a video says of its colors", .runsPrograms, .enabled(if: FFmpegPeer.isInstalled))
struct VideoColorDescriptionTests {
  struct Video: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var file = "video.mov"
    var bitDepth = 8
    var transfer: String?
    var primaries: String?
    var matrix: String?
    var range: String?
    var assumedMatrix: ColorMatrix?
    var assumedRange: ColorRange?
    var isUnusual = false
  }

  static func tags(_ transfer: String, _ primaries: String, _ matrix: String) -> [String] {
    [
      "-color_trc", transfer, "-color_primaries", primaries, "-colorspace", matrix, "-color_range",
      "tv",
    ]
  }

  static let x265 = ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"]
  static let ten = ["-pix_fmt", "yuv420p10le"]
  static let eight = ["-pix_fmt", "yuv420p"]
  static let hlg = tags("arib-std-b67", "bt2020", "bt2020nc")
  static let pq = tags("smpte2084", "bt2020", "bt2020nc")

  static let videos = [
    Video(
      testDescription: "HLG in HEVC", options: x265 + ten + hlg, bitDepth: 10,
      transfer: "arib-std-b67", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "PQ in HEVC", options: x265 + ten + pq, file: "video.mp4", bitDepth: 10,
      transfer: "smpte2084", primaries: "bt2020", matrix: "bt2020nc", range: "tv", isUnusual: true),
    Video(
      testDescription: "PQ in H.264 of ten bits", options: ["-c:v", "libx264"] + ten + pq,
      bitDepth: 10, transfer: "smpte2084", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "PQ in a bare stream", options: ["-c:v", "libx264"] + ten + pq,
      file: "video.h264", bitDepth: 10, transfer: "smpte2084", primaries: "bt2020",
      matrix: "bt2020nc", range: "tv", isUnusual: true),
    Video(
      testDescription: "HLG in Matroska", options: x265.dropLast(2) + ten + hlg, file: "video.mkv",
      bitDepth: 10, transfer: "arib-std-b67", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "linear",
      options: ["-c:v", "libx264"] + eight + tags("linear", "bt709", "bt709"),
      transfer: "linear", primaries: "bt709", matrix: "bt709", range: "tv", isUnusual: true),
    Video(
      testDescription: "ten bits without HDR",
      options: x265 + ten + tags("bt709", "bt709", "bt709"),
      bitDepth: 10, transfer: "bt709", primaries: "bt709", matrix: "bt709", range: "tv"),
    Video(
      testDescription: "BT.601",
      options: ["-c:v", "libx264"] + eight + tags("smpte170m", "smpte170m", "smpte170m"),
      transfer: "smpte170m", primaries: "smpte170m", matrix: "smpte170m", range: "tv"),
    Video(
      testDescription: "sRGB, full range",
      options: [
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-color_trc", "iec61966-2-1", "-color_range",
        "pc",
        "-colorspace", "bt709", "-color_primaries", "bt709",
      ],
      transfer: "iec61966-2-1", primaries: "bt709", matrix: "bt709", range: "pc"),
    Video(
      testDescription: "untagged H.264", options: ["-c:v", "libx264"] + eight,
      assumedMatrix: .bt601, assumedRange: .limited),
    Video(
      testDescription: "untagged HEVC", options: x265 + ten, bitDepth: 10, range: "tv",
      assumedMatrix: .bt601),
    Video(
      testDescription: "a matrix that swscale does not know",
      options: ["-c:v", "libx264"] + eight + tags("bt709", "bt709", "ycgco"), transfer: "bt709",
      primaries: "bt709", matrix: "ycgco", range: "tv", assumedMatrix: .bt601),
    Video(
      testDescription: "MPEG-4 part 2, untagged", options: ["-c:v", "mpeg4"], file: "video.mp4",
      assumedMatrix: .bt601, assumedRange: .limited),
  ]

  @Test("Bits, transfer, primaries, matrix and range, and what is assumed", arguments: videos)
  func description(video: Video) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending(video.file)
    try FFmpegPeer.makeVideo(
      file, size: "64x64", pictures: 3,
      filter:
        "setparams=range=unknown:color_primaries=unknown:color_trc=unknown:colorspace=unknown",
      video.options)
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.bitDepth == video.bitDepth)
    #expect(color.transfer == video.transfer)
    #expect(color.primaries == video.primaries)
    #expect(color.matrix == video.matrix)
    #expect(color.range == video.range)
    #expect(color.assumedMatrix == video.assumedMatrix)
    #expect(color.assumedRange == video.assumedRange)
    #expect(color.isUnusualTransfer == video.isUnusual)
    // What is assumed is what the pictures are made with.
    if let assumed = video.assumedMatrix {
      let plain = try decodedPictures(of: file).pictures
      let decoder = try VideoDecoder(file)
      var converter = ColorConverter(matrix: assumed, range: video.assumedRange)
      var rgb: [UInt8] = []
      let first = try #require(try decoder.next())
      try converter.convert(first, into: &rgb)
      #expect(plain.first?.rgb == rgb)
    }
    // And the pictures stay those of the ffmpeg program.
    expectSame(
      try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file, threads: 1),
      "\(video)")
  }

  @Test(
    "What only the container says of an HEVC movie is told, and that the decoder does not heed it")
  func containerAlone() throws {
    let folder = try TemporaryFolder()
    let plain = folder.path.appending("plain.mov")
    let file = folder.path.appending("tagged.mov")
    try FFmpegPeer.makeVideo(plain, size: "64x64", pictures: 3, Self.x265 + Self.ten)
    try PeerProgram.ffmpeg.run(
      ["-nostdin", "-v", "error", "-i", "\(plain)", "-c", "copy"] + Self.pq + ["\(file)"])
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.transfer == "smpte2084" && color.isUnusualTransfer)
    #expect(color.assumedMatrix == .bt601)
    expectSame(
      try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file, threads: 1), "colr")
  }

  @Test("Apple's logarithmic transfer is recognized by its name in the file")
  func appleLog() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("log.mov")
    try FFmpegPeer.makeVideo(
      file, size: "64x64", pictures: 3,
      Self.x265 + Self.ten + [
        "-movflags", "use_metadata_tags", "-metadata", "transfer=com.apple.log",
      ])
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.transfer == "apple-log" && color.isUnusualTransfer)
  }
}
