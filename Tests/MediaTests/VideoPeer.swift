@testable import Media
import FoundationEssentials
@testable import Core
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Programs of the system that tests compare with.
enum PeerProgram: String {
  case ffmpeg
  case pngcheck

  /// Whether it is found in `PATH`; says so once when it is not.
  var isInstalled: Bool {
    if ForeignPrograms.areLeftOut { return false }
    let found = Self.searchPath.contains { access("\($0)/\(rawValue)", X_OK) == 0 }
    if !found { print("note: \(rawValue) is not installed: comparisons with it are skipped") }
    return found
  }

  private static var searchPath: [String] {
    guard let path = getenv("PATH") else { return [] }
    return String(cString: path).split(separator: ":").map(String.init)
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
    return try FileManager.default.contentsOfDirectory(atPath: folder.path.string).sorted().map {
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
