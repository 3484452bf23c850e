import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A small capture of any family whose video is made anew by the ffmpeg program.
struct MovieScene {
  let folder: TemporaryFolder
  let family: String
  var input: FilePath { folder.path.appending("in") }
  var capture: FilePath { input.appending(id) }
  let id: String
  /// The file of the video, and the form in which it is written.
  let video: FilePath

  static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  static var hasFFmpeg: Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let found = path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/ffmpeg")
    }
    if !found { print("note: ffmpeg is not installed: tests with movies made by it are skipped") }
    return found
  }

  init(_ family: String, frames: Int, _ options: [String] = []) throws {
    self.family = family
    folder = try TemporaryFolder()
    let size = family == "strabo" ? [] : ["--width", "160", "--height", "120"]
    try Program.synthesize(
      "\(family) --frames \(frames) --seed 4 --id a \(size) \(options)",
      to: folder.path.appending("in"))
    let input = folder.path.appending("in")
    let names = try FileSystem.names(in: input).filter { !$0.hasSuffix(".truth") }
    let name = try #require(names.first)
    id = name
    let file = try FileSystem.names(in: input.appending(name)).first {
      ["mp4", "mov", "h264"].contains(FilePath($0).extension)
    }
    video = input.appending(name).appending(try #require(file))
  }

  static func ffmpeg(_ arguments: [String]) throws {
    let result = try Running(
      "/usr/bin/env", ["ffmpeg", "-nostdin", "-v", "error", "-y"] + arguments, in: nil
    )
    .finish()
    try #require(result.status == 0, "\(result.errors)")
  }

  /// Makes the video anew from itself; for bare streams with H.264.
  func encode(_ options: [String]) throws {
    let made = folder.path.appending("made.\(video.extension ?? "")")
    try Self.ffmpeg(["-i", video.string, "-fps_mode", "passthrough"] + options + [made.string])
    try replaceVideo(by: made)
  }

  /// Cuts the beginning off without encoding.
  func trim(_ seconds: String, _ more: [String] = []) throws {
    let made = folder.path.appending("made.\(video.extension ?? "")")
    try Self.ffmpeg(["-ss", seconds, "-i", video.string] + more + ["-c", "copy", made.string])
    try replaceVideo(by: made)
  }

  private func replaceVideo(by made: FilePath) throws {
    try FileSystem.remove(video)
    try made.move(to: video)
  }

  func inspect() throws -> [String: Any] {
    try Program.run("inspect \(capture) --json").json()
  }

  /// Code and count of each warning, and the message.
  static func warnings(_ document: [String: Any]) -> [(code: String, count: Int, message: String)] {
    (document["warnings"] as? [[String: Any]] ?? []).map {
      ($0["code"] as? String ?? "", $0["count"] as? Int ?? 0, $0["message"] as? String ?? "")
    }
  }

  /// Runs into a folder and returns the output of the capture.
  func run(_ output: String, _ more: Words = "") throws -> FilePath {
    let place = folder.path.appending(output)
    try Program.run("run \(input) --output \(place) --executor local \(more.list)").succeeds()
    return place.appending(id)
  }

  /// The color pictures of an output, by index.
  static func pictures(_ output: FilePath) throws -> [Int: Data] {
    let folder = output.appending("color")
    return try FileSystem.names(in: folder).filter { $0.hasSuffix(".png") }
      .reduce(into: [:]) { pictures, name in
        let index = try #require(Int(name.dropLast(4)))
        pictures[index] = try folder.appending(name).data()
      }
  }
}
