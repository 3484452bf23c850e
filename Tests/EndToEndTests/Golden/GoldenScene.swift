import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Small captures of all families, one or more in every state that a capture can be in, and what runs made of them.
struct GoldenScene {
  private let folder: TemporaryFolder
  private var input: FilePath { folder.path.appending("in") }
  var output: FilePath { folder.path.appending("out") }

  /// Family, what becomes of it (its id), and more words of `synthesize`.
  private static let captures: [(family: String, id: String, more: [String])] = [
    ("arkit-scanner", "whole", []),
    ("strabo", "geo", []),
    ("vi-slam", "bad", []),
    ("record3d", "warned", ["--fault", "swapped-times"]),
    ("multiscan", "short", ["--fault", "short-video"]),
    ("scannet", "broken", []),
    ("scannet", "lacking", []),
    ("stray-scanner", "changed", []),
    ("3d-scanner-app", "altered", []),
    ("record3d", "partial", []),
    ("polycam", "gone", []),
    ("strabo", "torn", []),
    ("strabo", "held", []),
    ("stray-scanner", "accepted", ["--fault", "short-video"]),
    ("vi-slam", "retired", []),
    ("scannet", "later", []),
  ]

  private static let pipeline = """
    schema: 1
    description: the stages that end in documents, and one that fails for the capture called bad
    stages:
      color: {uses: decode-color}
      depth-frames: {uses: decompress-depth, partOf: depth, keep: false}
      depth: {uses: export-images, with: {stream: depth}, needs: [depth-frames]}
      confidence: {uses: export-images, with: {stream: confidence}}
      aligned: {uses: align-depth, needs: [depth-frames]}
      time-offset: {uses: measure-time-offset}
      imu: {uses: match-imu, optional: [time-offset]}
      quality: {uses: measure-quality, optional: [color, depth-frames]}
      tables: {uses: export-tables, optional: [color, depth, confidence, aligned]}
      preview: {uses: preview, optional: [color, aligned, depth]}
      thumbnail: {uses: make-thumbnail}
      check:
        uses: command
        needs: [tables]
        with: {command: [sh, -c, "case {id} in bad) echo no luck >&2; exit 3;; esac; echo x > {output}/x"]}
      report: {uses: command, needs: [check], with: {command: [sh, -c, "echo x > {output}/x"]}}

    """

  /// The captures as they came.
  init() throws {
    folder = try TemporaryFolder()
    for (seed, capture) in Self.captures.enumerated() {
      try Program.synthesize(
        """
        \(capture.family) --id \(capture.id) --seed \(seed + 7) --frames 10 --width 64 --height 48 \
        --truth-pictures 0 \(capture.more)
        """, to: input)
    }
    try OutputFile.write(Array(Self.pipeline.utf8), to: folder.path.appending("pipeline.yaml"))
    try replace(input.appending("broken/broken.depth"), with: "not depth at all")
    try FileSystem.remove(input.appending("lacking/lacking.imu"))
    try FileSystem.makeFolder(input.appending("holiday"))
    try replace(input.appending("holiday/beach.bin"), with: "sand")
    // Files that changed within two seconds before they are noted are looked at anew, by a worker: a fast machine would
    // end with other captures first than a slow one.
    usleep(2_100_000)
  }

  /// What happens to captures and results after the runs.
  func spoil() throws {
    try FileSystem.remove(output.appending("partial/color/000001.png"))
    try replace(output.appending("altered/color/000003.png"), with: "no picture")
    try replace(output.appending("torn/color/artifact.json"), with: "{\"schema\":")
    try FileSystem.remove(input.appending("gone"))
  }

  /// As if a run worked on the capture called `held`, until the result is let go.
  func hold() throws -> FileLock {
    try #require(
      try FileLock(at: output.appending("held/.scanmill/lock"), holder: "another run") { _ in
        false
      })
  }

  private func replace(_ file: FilePath, with text: String) throws {
    if FileSystem.exists(file) { try FileSystem.remove(file) }
    try OutputFile.write(Array(text.utf8), to: file)
  }

  /// What lines of a shell print, one after the other, with errors and exit codes.
  func printed(_ lines: [String], _ extent: GoldenMask.Extent = .volatile) throws -> String {
    try lines.map { line in
      let result = try Program.run(line: "export TZ=UTC NO_COLOR=1; \(line)", in: folder.path)
      let errors = result.errors.isEmpty ? "" : "-- errors\n" + masked(result.errors)
      return "== \(line)\n" + masked(result.output, extent) + errors
        + "-- exit \(result.status)\n"
    }.joined()
  }

  /// Every file for scripts below a folder of the output.
  func documents(in name: String, _ isWanted: (String) -> Bool = { _ in true }) throws -> String {
    let place = output.appending(name)
    let names = try #require(FileManager.default.subpaths(atPath: place.string)).sorted()
    return try names.filter { name in
      ["json", "csv"].contains(FilePath(name).extension)
        && !name.split(separator: "/").contains { $0.hasPrefix(".") } && isWanted(name)
    }.map { "== \(masked($0))\n" + (try text("\(place)/\($0)")) }.joined()
  }

  /// What happened to some captures in all runs. What stages do at the same time comes in any order, so those of a
  /// stage stand together, and how often one tells how far it is depends on its speed.
  func events(of captures: [String]) throws -> String {
    try FileSystem.names(in: output.appending("runs")).map { run in
      let lines = try FilePath("\(output)/runs/\(run)/events.jsonl").text().lines
      let told = try lines.enumerated().map { number, line in
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        func word(_ key: String) -> String { event[key] as? String ?? "" }
        return (word("capture"), word("stage"), number, word("kind"), line)
      }.filter { $0.3 != "progress" && ([""] + captures).contains($0.0) }
      return "== RUN\n"
        + masked(
          told.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map { $0.4 + "\n" }.joined())
    }.joined()
  }

  /// A text file.
  func text(_ file: String) throws -> String {
    masked(try FilePath(file).text())
  }

  private func masked(_ text: String, _ extent: GoldenMask.Extent = .volatile) -> String {
    GoldenMask.masked(text, place: folder.path.string, extent)
  }
}
