import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
