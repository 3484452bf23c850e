import CFFmpeg
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// Pictures, their places and what is known of damage do not depend on how many threads decode.
@Suite("Videos decoded by several threads", .enabled(if: FFmpegPeer.isInstalled))
struct VideoThreadTests {
  enum Coding: String, CaseIterable, CustomTestStringConvertible {
    case h264, hevc

    var testDescription: String { rawValue }

    var arguments: [String] {
      switch self {
      case .h264: VideoIdentityTests.x264 + ["-bf", "2", "-g", "12"]
      // With rows that can be decoded side by side, as phones make them.
      case .hevc:
        [
          "-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params",
          "log-level=none:wpp=1:bframes=2:keyint=12",
        ]
      }
    }
  }

  private static func make(_ coding: Coding, _ folder: TemporaryFolder) throws -> FilePath {
    let file = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(file, size: "160x128", pictures: 30, coding.arguments)
    return file
  }

  private struct Outcome: Equatable {
    var pictures: [ColorImage]
    var indices: [Int?]
    var counts: VideoDecoder.Counts

    init(_ file: FilePath, threads: Int) throws {
      (pictures, indices, counts) = try decodedPictures(of: file, threads: threads)
    }

    /// Where it first differs, in words: pictures are too long to print.
    func difference(from other: Outcome) -> String? {
      if counts != other.counts { return "\(counts) instead of \(other.counts)" }
      if indices != other.indices { return "places \(indices) instead of \(other.indices)" }
      let differing = zip(pictures, other.pictures).enumerated().filter { $1.0 != $1.1 }
      return differing.isEmpty ? nil : "pictures \(differing.map(\.offset)) differ"
    }
  }

  @Test("A whole video gives the same with any number", arguments: Coding.allCases)
  func whole(coding: Coding) throws {
    let folder = try TemporaryFolder()
    let file = try Self.make(coding, folder)
    let one = try Outcome(file, threads: 1)
    #expect(one.pictures.count == 30 && one.counts.damageMessages == 0)
    for threads in [2, 3, 4, 8] {
      #expect(try Outcome(file, threads: threads).difference(from: one) == nil, "\(threads)")
    }
  }

  @Test(
    "A damaged video gives what one thread gives, several times in a row",
    arguments: Coding.allCases,
    [1, 40, 3000])
  func damaged(coding: Coding, bytesDamaged: Int) throws {
    let folder = try TemporaryFolder()
    let whole = [UInt8](
      try Self.make(coding, folder).data())
    var random = SeededGenerator(seed: 23)
    var complaints = 0
    for place in 0..<4 {
      var bytes = whole
      // The pictures of the file: its index lies at the end.
      let start = Int.random(in: (whole.count / 8)..<(whole.count * 3 / 4), using: &random)
      for offset in 0..<bytesDamaged {
        bytes[start + offset] ^= UInt8.random(in: 1...255, using: &random)
      }
      let file = folder.path.appending("\(place).mp4")
      try file.write(bytes)
      let one = try Outcome(file, threads: 1)
      complaints += one.counts.damageMessages
      for threads in [2, 4, 8] {
        for round in 0..<Rounds.of(2, soak: 10) {
          #expect(
            try Outcome(file, threads: threads).difference(from: one) == nil,
            "place \(place), \(threads) threads, round \(round)")
        }
      }
    }
    // Arithmetic codes of x265 hide a wrong byte: what follows is as good a picture as any other.
    if coding == .h264 || bytesDamaged > 1000 { #expect(complaints > 0, "nothing was damaged") }
  }

  @Test(
    "Going on with another number of threads gives the rest of the pictures",
    arguments: Coding.allCases)
  func changed(coding: Coding) throws {
    let folder = try TemporaryFolder()
    let file = try Self.make(coding, folder)
    let one = try Outcome(file, threads: 1)
    for (before, after) in [(1, 2), (1, 4), (4, 1)] {
      let decoder = try VideoDecoder(file, threads: before)
      var converter = ColorConverter(conversion: .ffmpeg)
      var rgb: [UInt8] = []
      var pictures: [ColorImage] = []
      while let picture = try decoder.next() {
        try converter.convert(picture, into: &rgb)
        pictures.append(ColorImage(width: picture.width, height: picture.height, rgb: rgb))
        if pictures.count == 11 { try decoder.use(threads: after) }
      }
      expectSame(pictures, one.pictures, "\(before) then \(after)")
      #expect(decoder.counts == one.counts)
    }
  }

  @Test("The time of the decoder's own threads is known, also once they are gone")
  func time() throws {
    let folder = try TemporaryFolder()
    let file = try Self.make(.h264, folder)
    let decoder = try VideoDecoder(file, threads: 3)
    for _ in 0..<5 { _ = try decoder.next() }
    let spent = decoder.threadCPUNanoseconds
    #expect(spent > 0)
    try decoder.use(threads: 1)
    #expect(decoder.threadCPUNanoseconds >= spent)
    while try decoder.next() != nil {}
    #expect(try VideoDecoder(file, threads: 1).threadCPUNanoseconds == 0)
  }
}

/// Programs of the system that tests compare with.
enum PeerProgram: String {
  case ffmpeg
  case pngcheck

  /// Whether it is in `PATH`.
  var isInstalled: Bool {
    ForeignPrograms.has(rawValue, else: "comparisons with it are skipped")
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs the program and waits for it; its exit code.
  @discardableResult
  func run(_ arguments: [String]) throws -> Int32 {
    try Running("/usr/bin/env", [rawValue] + arguments).finish().status
  }
}

/// The ffmpeg program as the judge of what a video's pictures are.
enum FFmpegPeer {
  static var isInstalled: Bool { PeerProgram.ffmpeg.isInstalled }

  /// All pictures that the program writes for the first video track of `file`. `threads` 0 leaves it to the
  /// program.
  static func pictures(
    of file: FilePath, threads: Int = 0, _ input: [String] = []
  ) throws -> [ColorImage] {
    let folder = try TemporaryFolder()
    try PeerProgram.ffmpeg.run(
      ["-nostdin", "-v", "error", "-threads", "\(threads)"] + input + [
        "-i", "file:\(file)", "-map", "0:v:0", "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
        "-start_number", "0", "-compression_level", "1", "\(folder.path)/%06d.png",
      ])
    return try FileSystem.names(in: folder.path).map {
      try PNGReader.color(at: folder.path.appending($0))
    }
  }

  /// Makes a video of test pictures with noise; `options` are those of the encoder.
  static func makeVideo(
    _ file: FilePath, size: String = "160x120", pictures: Int = 40, filter: String = "null",
    _ options: [String]
  ) throws {
    let status = try PeerProgram.ffmpeg.run(
      [
        "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
        "testsrc2=s=\(size):rate=30,noise=alls=12:allf=t:all_seed=7,\(filter)", "-frames:v",
        "\(pictures)", "-fps_mode", "passthrough",
      ] + options + ["file:\(file)"])
    guard status == 0 else {
      throw PeerProgram.Failure(description: "ffmpeg cannot make \(file): \(options)")
    }
  }
}

/// All pictures of a video as our decoder gives them.
func decodedPictures(
  of file: FilePath, threads: Int = 1, conversion: ColorConversion = .ffmpeg,
  order: PictureOrder? = nil
) throws -> (pictures: [ColorImage], indices: [Int?], counts: VideoDecoder.Counts) {
  let decoder = try VideoDecoder(file, order: order, threads: threads)
  var converter = ColorConverter(conversion: conversion)
  var pictures: [ColorImage] = []
  var indices: [Int?] = []
  var rgb: [UInt8] = []
  while let picture = try decoder.next() {
    #expect(picture.outputIndex == pictures.count)
    try converter.convert(picture, into: &rgb)
    pictures.append(ColorImage(width: picture.width, height: picture.height, rgb: rgb))
    indices.append(picture.displayIndex)
  }
  return (pictures, indices, decoder.counts)
}

/// Expects the same pictures, and says where they first differ without printing them.
func expectSame(
  _ pictures: [ColorImage], _ expected: [ColorImage], _ comment: Comment,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(pictures.count == expected.count, comment, sourceLocation: sourceLocation)
  let different = zip(pictures, expected).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
  #expect(different.isEmpty, comment, sourceLocation: sourceLocation)
}

@Suite("FFmpeg's libraries, loaded when they are needed")
struct FFmpegLibrariesTests {
  @Test(
    "The names of files tell the versions that the libraries tell of themselves",
    arguments: [
      (scanmill_avcodec, avcodec_version), (scanmill_avformat, avformat_version),
      (scanmill_avutil, avutil_version), (scanmill_swscale, swscale_version),
    ] as [(scanmill_ffmpeg, @Sendable @convention(c) () -> UInt32)])
  func versions(library: scanmill_ffmpeg, version: @Sendable @convention(c) () -> UInt32) {
    #expect(FFmpegLibraries.problem() == nil)
    #expect(scanmill_ffmpeg_file_version(library) == version())
  }

  @Test("Arguments of all kinds come through, doubles and pointers")
  func arguments() {
    var matrix = [Int32](repeating: 0, count: 9)
    av_display_rotation_set(&matrix, 90)
    #expect(matrix == [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30])
    #expect(av_display_rotation_get(matrix) == -90)
  }
}
