@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// A situation has one code in every family, or a reason to have another.
@Suite("One situation, one code, whatever the family")
struct SameCodeTests {
  enum Situation: CaseIterable {
    case cutVideo, missingSideFile, emptySideFile, additionalTrack, wrongOrder
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String?
    /// Endings of the video and of the side file that says when frames or points were.
    var video: String
    var sideFile: String
    /// What the synthesizer calls a wrong order of times; `nil`: two lines of the side file are exchanged.
    var orderFault: String?
    /// Codes of `told`, and `unreadable STREAM`.
    var outcomes: [Situation: Set<String>]

    var testDescription: String { family }
  }

  static let rows = [
    Row(
      family: "scannet", video: ".h264", sideFile: ".txt", orderFault: "swapped-times",
      outcomes: [
        // A bare stream has no index that says how many pictures there were: other streams do.
        .cutVideo: ["color-shorter-than-depth"],
        .missingSideFile: ["missing-file"], .emptySideFile: ["missing-file"],
        // Nor has it tracks.
        .additionalTrack: [], .wrongOrder: ["timestamps-unordered"],
      ]),
    Row(
      family: "arkit-scanner", generation: "g6", video: "rgb.mp4", sideFile: "trans.json",
      outcomes: [
        .cutVideo: ["truncated-stream", "color-shorter-than-depth"],
        .missingSideFile: ["missing-file"], .emptySideFile: ["missing-file"],
        .additionalTrack: ["multiple-streams"],
        // Keys of an object have no order: they are sorted.
        .wrongOrder: [],
      ]),
    Row(
      family: "multiscan", generation: "ios-lidar", video: ".mp4", sideFile: ".jsonl",
      outcomes: [
        .cutVideo: ["truncated-stream", "color-shorter-than-depth"],
        .missingSideFile: ["missing-file"], .emptySideFile: ["missing-file"],
        .additionalTrack: ["multiple-streams"],
        .wrongOrder: ["timestamps-unordered"],
      ]),
    Row(
      family: "vi-slam", video: "video.mp4", sideFile: "frame_metadata.csv",
      orderFault: "swapped-frames",
      outcomes: [
        .cutVideo: ["truncated-stream"], .missingSideFile: ["missing-file"],
        .emptySideFile: ["missing-file"], .additionalTrack: ["multiple-streams"],
        .wrongOrder: ["timestamps-unordered"],
      ]),
    Row(
      family: "strabo", video: ".mov", sideFile: ".json", orderFault: "swapped-points",
      outcomes: [
        .cutVideo: ["truncated-stream"], .missingSideFile: ["missing-file"],
        .emptySideFile: ["missing-file"], .additionalTrack: ["multiple-streams"],
        // Positions have a code of their own.
        .wrongOrder: ["geo-unordered"],
      ]),
  ]

  /// The codes that these situations are about; a cut video costs frames, which others tell of.
  private static func told(_ situation: Situation) -> Set<String> {
    switch situation {
    case .cutVideo: ["truncated-stream", "color-shorter-than-depth"]
    case .missingSideFile, .emptySideFile: ["missing-file", "missing-key", "truncated-stream"]
    case .additionalTrack: ["multiple-streams"]
    case .wrongOrder: ["timestamps-unordered", "geo-unordered"]
    }
  }

  @Test("Cut video, missing or empty side file, additional track, wrong order", arguments: rows)
  func codes(_ row: Row) throws {
    let output = try TemporaryFolder()
    for situation in Situation.allCases {
      let folder = try capture(row, situation, in: output.path)
      let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
      let capture = try CaptureRegistry.builtIn.open(try #require(found.first))
      let codes = Set(capture.warnings.map(\.code.rawValue))
      let outcome = codes.intersection(Self.told(situation))
        .union(capture.errors.map { "unreadable \($0.stream)" })
      #expect(
        outcome == row.outcomes[situation], "\(row.family) \(situation): \(codes.sorted())")
    }
  }

  private func capture(_ row: Row, _ situation: Situation, in output: FilePath) throws -> FilePath {
    var options = SynthesisOptions(output: output)
    options.id = "\(row.family)-\(situation)"
    options.frames = 10
    (options.width, options.height) = (64, 48)
    options.generation = row.generation
    options.truthPictures = 0
    if situation == .wrongOrder { options.faults = [row.orderFault].compactMap(\.self) }
    let folder = try SyntheticFamilies.write(row.family, options).folder
    func path(_ ending: String) throws -> FilePath {
      let name = try FileSystem.names(in: folder).first {
        $0.hasSuffix(ending) && $0 != "capture-info.json"
      }
      return folder.appending(try #require(name))
    }
    func change(_ ending: String, _ body: ([UInt8]) throws -> [UInt8]) throws {
      let file = try path(ending)
      let url = URL(filePath: file.string)
      try Data(try body(Array(try Data(contentsOf: url)))).write(to: url)
    }
    let isBare = row.video == ".h264"
    switch situation {
    case .cutVideo:
      try change(row.video) { bytes in
        let whole = isBare ? bytes : try #require(MovieBoxes(bytes).indexFirst())
        return Array(whole.prefix(whole.count * 9 / 10))
      }
    case .missingSideFile: try FileSystem.remove(try path(row.sideFile))
    case .emptySideFile: try change(row.sideFile) { _ in [] }
    case .additionalTrack where isBare: break
    case .additionalTrack:
      try change(row.video) { try #require(MovieBoxes($0).indexFirst(tracks: 2)) }
    case .wrongOrder: if row.orderFault == nil { try change(row.sideFile, swapLines) }
    }
    return folder
  }

  /// Exchanges two lines, where there are any.
  private func swapLines(_ bytes: [UInt8]) throws -> [UInt8] {
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    if lines.count > 4 { lines.swapAt(2, 3) }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }
}
