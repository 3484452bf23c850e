import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

/// Files and folders that may not be read, through the built binary as user `nobody`.
@Suite(.runsPrograms, .enabled(if: Unprivileged.isPossible, "needs to give up being root"))
struct UnreadableFileTests {
  private let folder: TemporaryFolder
  private var input: FilePath { folder.path.appending("in") }
  private var capture: FilePath { input.appending("c") }

  init() throws { folder = try TemporaryFolder() }

  private static let small = ["--width", "96", "--height", "72"]

  private func make(_ family: String) throws {
    try Program.synthesize("\(family) --frames 3 --id c \(Self.small)", to: input)
  }

  /// Runs over the capture, or another place, into a folder of its own.
  private func run(
    _ name: String, over place: FilePath? = nil, _ more: Words = "--json -q"
  ) throws -> Program.Result {
    let output = folder.path.appending(name)
    try FileSystem.makeFolder(output)
    #expect(chown(output.string, 65534, 65534) == 0)
    return try Program.startUnprivileged(
      "run \(place ?? capture) --output \(output) \(more.list)"
    ).finish()
  }

  private func outcomes(_ result: Program.Result) throws -> [String: String] {
    let captures = try result.json().objects("captures")
    let stages = try captures.flatMap { try $0.objects("stages") }
    return Dictionary(
      stages.map { ($0["stage"] as? String ?? "", $0["outcome"] as? String ?? "") }
    ) { first, _ in first }
  }

  @Test(
    arguments: Rounds.every(2, of: ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]))
  func `no file that may not be read is taken for missing`(family: String) throws {
    try make(family)
    let whole = try outcomes(run("whole"))
    #expect(!whole.isEmpty)
    for name in try FileSystem.names(in: capture) {
      let file = capture.appending(name)
      #expect(chmod(file.string, 0) == 0)
      let result = try run("without-\(name)")
      #expect(chmod(file.string, 0o755) == 0)
      let said = result.output + result.errors
      let now = (try? outcomes(result)) ?? [:]
      // Without color the pictures to look at have nothing to show; color itself fails.
      let lost = now.filter {
        $0.value == "not-possible" && whole[$0.key] != "not-possible"
          && !($0.key == "preview" && now["color"] == "failed")
      }
      #expect(lost.isEmpty, "\(family) without \(name)")
      // What no stage reads may be shut without harm.
      if result.status != 0 || now != whole {
        #expect(result.status == 1 || result.status == 65, "\(family) without \(name): \(said)")
        #expect(said.contains("permission denied"), "\(family) without \(name): \(said)")
        #expect(!said.contains("\(name) is missing"), "\(family) without \(name)")
      }
    }
  }

  @Test func `a capture whose files may not be read is told by its own name, not by theirs`() throws
  {
    try make("vi-slam")
    try Program.synthesize("vi-slam --frames 3 --id d \(Self.small)", to: input)
    for name in try FileSystem.names(in: capture) { #expect(chmod("\(capture)/\(name)", 0) == 0) }
    let said = try run("out", over: input)
    let captures = try said.json().objects("captures")
    let paths = Set(captures.compactMap { $0["path"] as? String })
    #expect(paths == [capture.string, input.appending("d").string], "\(said.output)")
  }

  /// What keeps a file that is there from being opened.
  enum Obstacle: String, CaseIterable, Sendable {
    case mode, folder, circle, pipe

    /// What an error says of it.
    var words: String {
      switch self {
      case .mode: "ermission denied"
      case .folder: "it is a folder"
      case .circle: "Too many levels of symbolic links"
      case .pipe: "not a regular file"
      }
    }
  }

  /// Every family and generation; one that needs more frames says how many.
  static let captures: [[String]] =
    [["scannet"], ["strabo"], ["strabo", "v0"], ["strabo", "v1-still"]]
    + ["g1", "g2a", "g2b", "g2c", "g3", "g4", "g5", "g6", "scannetpp"].map {
      ["arkit-scanner", $0]
    }
    + ["ios-lidar", "ios-lidar-2020", "ios-single", "ios-dual", "ios-stereo", "android-plain"].map {
      ["multiscan", $0]
    } + [["multiscan", "android-arcore", "12"]]
    + ["v1", "android", "android-wide"].map { ["vi-slam", $0] }

  /// Files that nothing is read from, and those by which a capture is recognized: without these it is none.
  static let unread: Set<String> = [
    "dura.txt", "exif_BrightnessValue.json", "exif_ShutterSpeedValue.json", "c-secondary.mp4",
  ]

  /// One of each kind: per-frame files differ in their numbers only.
  private func kinds(of files: [String]) -> [String] {
    var seen: Set<String> = []
    return files.filter { name in
      seen.insert(String(name.map { $0.isNumber ? "#" : $0 })).inserted
    }
  }

  @Test(arguments: Rounds.every(3, of: captures))
  func `every file that is there and cannot be opened is named with a remedy`(
    words: [String]
  ) throws {
    let (frames, generation) = (words.count > 2 ? words[2] : "3", words.dropFirst().first)
    try Program.synthesize(
      """
      \(words[0]) --id c --frames \(frames) \(Self.small) \
      \(generation.map { ["--generation", $0] } ?? [])
      """, to: input)
    var files = try FileSystem.names(in: capture)
    if files.contains("frames") {
      files += try FileSystem.names(in: capture.appending("frames")).map { "frames/\($0)" }
    }
    // Each file gets one obstacle, each obstacle comes to every family; all to all in `make soak`.
    let first = (Self.captures.firstIndex(of: words) ?? 0)
    for (index, name) in kinds(of: files).enumerated() where !Self.unread.contains(name) {
      let file = capture.appending(FilePath(name).components)
      guard !FileSystem.isFolder(file) else { continue }
      for (number, obstacle) in Obstacle.allCases.enumerated()
      where Rounds.isSoak || (number + index + first).isMultiple(of: 4) {
        // Without its description a folder is no capture, and a still is asked for by its row.
        let isMark = [
          "capture-info.json", "trans.json", "pose_intrinsic_imu.json", "depthBufferSequence.bin",
          "depthBufferSequence",
        ].contains(name)
        if obstacle != .mode,
          isMark || name.hasPrefix("frames/") || name.hasSuffix(".depth")
            || (words[0] == "multiscan" && (name.hasSuffix(".json") || name.hasSuffix(".txt")))
        {
          continue
        }
        try check(name, file, obstacle, words)
      }
    }
  }

  private func check(
    _ name: String, _ file: FilePath, _ obstacle: Obstacle, _ words: [String]
  ) throws {
    let saved = folder.path.appending("saved")
    if obstacle == .mode {
      #expect(chmod(file.string, 0) == 0)
    } else {
      try FileSystem.rename(file, to: saved)
    }
    switch obstacle {
    case .mode: break
    case .folder: try FileSystem.makeFolder(file)
    case .circle: #expect(symlink(file.lastComponent?.string ?? "", file.string) == 0)
    case .pipe: #expect(mkfifo(file.string, 0o644) == 0)
    }
    defer {
      if obstacle == .mode {
        _ = chmod(file.string, 0o644)
      } else {
        try? FileSystem.remove(file)
        try? FileSystem.rename(saved, to: file)
      }
    }
    let result = try Program.startUnprivileged("inspect \(capture) --json").finish()
    let what = "\(words) \(name) \(obstacle)"
    if result.status == 65 {
      #expect(result.errors.contains(obstacle.words), "\(what): \(result.errors)")
      return
    }
    let json = try result.json()
    let errors = (json["errors"] as? [[String: Any]] ?? []).compactMap { $0["message"] as? String }
    let last = file.lastComponent?.string ?? ""
    let own = errors.filter { $0.contains(last) && $0.contains(obstacle.words) }
    #expect(!own.isEmpty, "\(what): \(errors)")
    #expect(own.allSatisfy { $0.contains("(") }, "\(what) has a remedy: \(own)")
    let missing = (json["warnings"] as? [[String: Any]] ?? []).filter {
      $0["code"] as? String == "missing-file" && $0["subject"] as? String == last
    }
    #expect(missing.isEmpty, "\(what) is not missing")
    #expect((json["missing"] as? [String])?.contains { last.hasSuffix($0) } != true, "\(what)")
  }

  @Test func `a folder that may not be read is no folder that is not there`() throws {
    try make("strabo")
    #expect(chmod(capture.string, 0) == 0)
    let result = try run("out")
    #expect(chmod(capture.string, 0o755) == 0)
    #expect(result.status == 65)
    #expect(result.errors.contains("permission denied"))
    #expect(!result.errors.contains("no such"))
  }

  @Test func `what could not be searched makes a run fail`() throws {
    try make("strabo")
    let shut = capture.removingLastComponent().appending("shut")
    try FileSystem.makeFolder(shut)
    #expect(chmod(shut.string, 0) == 0)
    let result = try run("out", over: input, "")
    #expect(chmod(shut.string, 0o755) == 0)
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.output.contains("c made"))
    #expect(result.errors.contains("permission denied"))
  }
}
