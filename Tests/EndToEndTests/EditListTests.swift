import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite(
  "Movies that were trimmed without encoding", .runsPrograms, .enabled(if: MovieScene.hasFFmpeg))
struct EditListTests {
  struct Family: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String] = []
    var testDescription: String { ([name] + options).joined(separator: " ") }
  }

  static let pairing = [
    Family(name: "arkit-scanner"), Family(name: "arkit-scanner", options: ["--generation", "g3"]),
    Family(name: "multiscan"),
    Family(name: "multiscan", options: ["--generation", "android-arcore"]),
    Family(name: "vi-slam"),
  ]

  /// Before the picture `index`, at the rate of the movie as it is.
  static func start(of index: Int, _ scene: MovieScene) throws -> String {
    let probe = try Running(
      "/usr/bin/env",
      [
        "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
        "csv=p=0", scene.video.string,
      ], in: nil
    ).finish()
    let times = probe.output.split(whereSeparator: \.isNewline)
      .compactMap { Double($0.split(separator: ",")[0]) }.sorted()
    try #require(times.count > index)
    return String((times[index - 1] + times[index]) / 2)
  }

  @Test(
    "Each picture keeps the row that it was recorded with",
    arguments: Rounds.every(2, of: pairing))
  func whole(family: Family) throws {
    let scene = try MovieScene(family.name, frames: 30, family.options)
    let whole = try scene.run("whole", "--only color")
    let before = try MovieScene.pictures(whole)
    let times = try Table(
      try scene.run("whole", "--only tables").appending("tables/frames.csv"))
    try #require(before.count == 30)
    try scene.trim(try Self.start(of: 10, scene))
    let trimmed = try scene.run("trimmed", "--until tables")
    let after = try MovieScene.pictures(trimmed)
    #expect(after.keys.sorted() == Array(10..<30))
    #expect(after.allSatisfy { before[$0.key] == $0.value })
    let table = try Table(trimmed.appending("tables/frames.csv"))
    #expect(table["timestamp_ns"] == times["timestamp_ns"])
    #expect(
      table["color"] == (0..<30).map { $0 < 10 ? "" : "color/\(String(format: "%06d", $0)).png" })
    #expect(table["color_timestamp_ns"].prefix(10).allSatisfy { $0 == "" })
    #expect(table["color_timestamp_ns"].dropFirst(10) == times["color_timestamp_ns"].dropFirst(10))
    let warnings = MovieScene.warnings(try scene.inspect())
    #expect(warnings.contains { $0.code == "frame-count-mismatch" && $0.count == 10 })
    if family.options.last != "android-arcore" {
      #expect(!warnings.contains { $0.code == "pairing-approximate" })
    }
  }

  @Test(
    "Where rows are left over at the end, too, the message says by how much times may be off",
    arguments: Rounds.every(
      2, of: ["arkit-scanner", "multiscan", "vi-slam"].map { Family(name: $0) }))
  func ends(family: Family) throws {
    let scene = try MovieScene(family.name, frames: 40, family.options)
    try scene.trim(try Self.start(of: 10, scene), ["-frames:v", "25"])
    let document = try scene.inspect()
    let doubt = try #require(
      MovieScene.warnings(document).first { $0.code == "pairing-approximate" })
    #expect(doubt.message.contains(" ms"))
    #expect(doubt.message.contains("edit list"))
    let table = try Table(
      try scene.run("out", "--until tables").appending("tables/frames.csv"))
    #expect(table["color"].prefix(10).allSatisfy { $0 == "" } && table["color"][10] != "")
  }

  @Test("Without rows of its own, a trimmed movie says by how much other data may be off")
  func others() throws {
    for (family, options) in [("strabo", []), ("multiscan", ["--generation", "ios-single"])] {
      let scene = try MovieScene(family, frames: 40, options)
      try scene.trim(try Self.start(of: 10, scene))
      let doubt = try #require(
        MovieScene.warnings(try scene.inspect()).first { $0.code == "pairing-approximate" })
      #expect(doubt.message.contains("edit list") && doubt.message.contains(" ms"), "\(family)")
    }
  }
}

@Suite("HDR and other transfers are told", .runsPrograms, .enabled(if: MovieScene.hasFFmpeg))
struct HDRVideoTests {
  static func tags(_ transfer: String) -> [String] {
    [
      "-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc",
      "-color_range", "tv",
    ]
  }

  /// Ten bits in the codec that the family's container takes.
  static func coder(_ family: String) -> [String] {
    let ten = ["-pix_fmt", "yuv420p10le"]
    return family == "scannet"
      ? ["-c:v", "libx264"] + ten
      : ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"] + ten
  }

  static func text(_ scene: MovieScene) throws -> String {
    try Program.run("inspect \(scene.capture)").output
  }

  @Test(
    "A warning, the tags in both forms of inspect, and pixels that are ffmpeg's",
    arguments: Rounds.every(2, of: MovieScene.families))
  func families(family: String) throws {
    let scene = try MovieScene(family, frames: 4)
    #expect(!MovieScene.warnings(try scene.inspect()).contains { $0.code == "hdr-video" })
    let transfer = family == "multiscan" ? "smpte2084" : "arib-std-b67"
    try scene.encode(Self.coder(family) + Self.tags(transfer))
    let document = try scene.inspect()
    let hdr = MovieScene.warnings(document).filter { $0.code == "hdr-video" }
    #expect(hdr.map(\.count) == [1])
    #expect(hdr.first?.message.contains(transfer) ?? false)
    let color = try #require(document["streams", "color"] as? [String: Any])
    #expect(color["transfer"] as? String == transfer)
    #expect(color["primaries"] as? String == "bt2020")
    #expect(color["matrix"] as? String == "bt2020nc")
    #expect(color["range"] as? String == "tv")
    #expect(color["bitDepth"] as? Int == 10)
    #expect(color["assumedMatrix"] is NSNull && color["assumedRange"] is NSNull)
    #expect(
      try Self.text(scene).contains(
        "10 bits, transfer \(transfer), primaries bt2020, matrix bt2020nc, limited range\n"))

    let output = try scene.run("out", "--only color")
    let expected = scene.folder.path.appending("expected")
    try FileSystem.makeFolder(expected)
    try MovieScene.ffmpeg([
      "-threads", "1", "-i", scene.video.string, "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
      "-start_number", "0", "\(expected)/%06d.png",
    ])
    for name in try FileSystem.names(in: expected) {
      let pictures = try [expected, output.appending("color")].map {
        try PNGReader.color(at: $0.appending(name))
      }
      #expect(pictures[0] == pictures[1], "\(name)")
    }
    #expect(try MovieScene.pictures(output).count == FileSystem.names(in: expected).count)
  }

  @Test("Ten bits alone are no warning; untagged movies say what is assumed")
  func assumed() throws {
    let scene = try MovieScene("vi-slam", frames: 3)
    try scene.encode(Self.coder("vi-slam"))
    let document = try scene.inspect()
    #expect(!MovieScene.warnings(document).contains { $0.code == "hdr-video" })
    let color = try #require(document["streams", "color"] as? [String: Any])
    #expect(color["bitDepth"] as? Int == 10)
    #expect(color["transfer"] is NSNull && color["matrix"] is NSNull)
    #expect(color["assumedMatrix"] as? String == "bt601")
    #expect(
      try Self.text(scene).contains(
        "10 bits, transfer, primaries and matrix untagged, limited range; "
          + "BT.601 assumed as the ffmpeg command line does (color.matrix)"))
  }
}

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
