import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Links of every kind in the place of every name that is read or written, looked at through the kernel's own
/// account of what the program did.
@Suite(
  "Nothing beyond the border is opened, listed or written", .runsPrograms,
  .enabled(if: Trace.isPossible, "needs strace"))
struct OutsideTests {
  private typealias Link = OutsideScene.Link

  private static let sources: [(family: String, generation: String?)] = [
    ("scannet", nil), ("arkit-scanner", nil), ("arkit-scanner", "g1"), ("multiscan", nil),
    ("multiscan", "ios-single"), ("vi-slam", nil), ("strabo", nil),
  ]
  /// Names beside those of a capture that somebody reads: readers, the finder, the watcher.
  private static let extras = [
    "frames", "metadata.json", ".complete", ".upload.json", "outputs", "rgb.mkv",
    "capture-info.json", "deeper/link",
  ]
  private static let stages = """
      color: {uses: decode-color}
      depth-frames: {uses: decompress-depth, partOf: depth, keep: false}
      depth: {uses: export-images, with: {stream: depth}, needs: [depth-frames]}
      imu: {uses: match-imu}
      tables: {uses: export-tables, optional: [color, depth]}
      thumbnail: {uses: make-thumbnail}
      seen: {uses: command, optional: {source: tables}, with: {command: [sh, -c, "echo {capture} > {output}/x"]}}
    """

  private func pipeline(_ scene: OutsideScene, _ stages: String = stages) throws -> String {
    let path = scene.path("pipeline.yaml")
    try OutputFile.write(Array("schema: 1\nstages:\n\(stages)\n".utf8), to: path)
    return path.string
  }

  private func synthesize(
    _ family: String, _ generation: String?, _ name: String, in shelf: FilePath
  ) throws -> FilePath {
    let size = family == "scannet" ? ["324", "242"] : ["64", "48"]
    try Program.synthesize(
      """
      \(family) --frames 2 --id \(name) --width \(size[0]) --height \(size[1]) --truth-pictures 0 \
      \(generation.map { ["--generation", $0] } ?? [])
      """, to: shelf)
    return shelf.appending(name)
  }

  // MARK: Captures

  @Test func `links in captures and between them`() throws {
    let scene = try OutsideScene()
    let staging = scene.path("in")
    try FileSystem.makeFolder(staging)
    var whole: [FilePath] = []
    for (number, source) in Self.sources.enumerated() {
      whole.append(
        try synthesize(source.family, source.generation, "s\(number)", in: scene.path("shelf")))
    }
    for (kind, link) in Link.tried.enumerated() {
      for (number, capture) in whole.enumerated() {
        let names = try FileSystem.names(in: capture)
        // Half of the files are links, then the other half: what is read depends on what else is there.
        for half in 0..<2 where Rounds.isSoak || (2 * number + half + kind) % 4 == 0 {
          let place = staging.appending("\(link)-\(number)-\(half)")
          try scene.copy(capture, to: place)
          for (index, name) in names.enumerated() where index % 2 == half {
            try scene.put(link, at: place.appending(name))
          }
        }
      }
      // Extra names beside a whole capture: of each link those of another family.
      let family = (Link.allCases.firstIndex(of: link) ?? 0) % whole.count
      let place = staging.appending("\(link)-extra")
      try scene.copy(whole[family], to: place)
      for name in Self.extras where !FileSystem.exists(place.pushing(FilePath(name))) {
        try scene.put(link, at: place.pushing(FilePath(name)))
      }
      let session = staging.appending("\(link)-frames")
      try scene.copy(whole[5], to: session)
      try FileSystem.remove(session.appending("video.mp4"))
      try scene.put(link, at: session.appending("frames"))
      // A capture that lies outside as a whole.
      let outer = staging.appending("\(link)-capture")
      try scene.copy(whole[(family + 1) % whole.count], to: outer)
      try scene.put(link, at: outer)
    }
    try scene.put(.absolute, at: staging.appending(".incoming"))
    try scene.put(.dangling, at: staging.appending(".lock"))

    let pipeline = ["--pipeline", try pipeline(scene)]
    let output = scene.path("out").string
    let first = staging.appending("absolute-extra").string
    try scene.trace("run -n", ["run", staging.string, "-o", output, "-n"] + pipeline)
    try scene.trace("inspect", ["inspect", staging.string])
    let ran = try scene.trace("run", ["run", staging.string, "-o", output] + pipeline)
    try scene.trace("run again", ["run", staging.string, "-o", output] + pipeline)
    try scene.trace(
      "watch --once",
      ["watch", staging.string, "-o", scene.path("watched").string, "--once", "--settle", "100ms"]
        + pipeline)
    try scene.trace("status", ["status", output, "--staging", staging.string])
    try scene.trace("explain", ["explain", first, "tables", "-o", output])
    try scene.trace("report", ["report", output])
    try scene.trace("view", ["view", first, "-o", scene.path("sheet.png").string])
    try scene.trace(
      "view frames",
      ["view", staging.appending("absolute-frames").string, "-o", scene.path("s2.png").string])
    try scene.trace(
      "bench",
      ["bench", first, "--repeat", "1", "--warmup", "0", "--cold"] + pipeline)
    try scene.trace("clean", ["clean", output, "--yes"])
    scene.printTable("links in captures, verbs × links")
    // What is whole is still processed.
    #expect(ran.output.contains("process-extra made"), "\(ran.output)")
  }

  @Test func `links to the folder above a capture`() throws {
    let scene = try OutsideScene()
    let staging = scene.path("in")
    let capture = try synthesize("vi-slam", nil, "s", in: staging)
    try FileSystem.rename(
      capture.appending("video.mp4"), to: staging.appending("video.mp4"))
    try scene.symlink(to: "..", at: capture.appending("frames"))
    try scene.symlink(to: "../video.mp4", at: capture.appending("video.mp4"))
    try scene.symlink(to: ".", at: capture.appending("deeper"))
    for arguments in [
      ["inspect", capture.string], ["run", capture.string, "-o", scene.path("out").string],
      ["view", capture.string, "-o", scene.path("sheet.png").string],
    ] {
      let trace = try Trace(arguments, in: scene.folder)
      // `view` looks whether the folder above is an output; it lists nothing there.
      let touches = trace.touches.filter {
        $0.kind == .listed && $0.path == staging.string
          || $0.kind != .looked && $0.path == staging.appending("video.mp4").string
      }
      #expect(touches.isEmpty, "\(arguments[0]): \(touches)")
    }
  }

  @Test func `links that stay inside are followed, as before`() throws {
    let scene = try OutsideScene()
    let staging = scene.path("in")
    let capture = try synthesize("arkit-scanner", nil, "s", in: staging)
    let plain = try Program.run("run \(capture) -o \(scene.path("plain"))").succeeds()
    for (number, name) in try FileSystem.names(in: capture).enumerated() {
      let kept = capture.appending("kept")
      try FileSystem.makeFolder(kept)
      try FileSystem.rename(capture.appending(name), to: kept.appending(name))
      let target = [kept.appending(name).string, "kept/\(name)", "../s/kept/\(name)"][number % 3]
      try scene.symlink(to: target, at: capture.appending(name))
    }
    let linked = try Program.run("run \(capture) -o \(scene.path("linked"))").succeeds()
    #expect(linked.output == plain.output)
    for stage in ["color", "depth", "aligned", "tables"] {
      func digest(_ output: String) throws -> String? {
        try scene.path("\(output)/s/\(stage)/artifact.json").json()["outputDigest"] as? String
      }
      #expect(try digest("plain") == digest("linked"), "\(stage)")
    }
  }

  // MARK: Outputs

  /// Cheap: there are many captures.
  private static let cheap = """
      tables: {uses: export-tables}
      imu: {uses: match-imu}
      inner:
        uses: command
        keep: false
        needs: {source: imu}
        with: {command: [sh, -c, "echo x > {output}/x"]}
      color:
        uses: command
        needs: {source: inner}
        with: {command: [sh, -c, "mkdir {output}/deep; echo x | tee {output}/deep/y > {output}/000000.png"]}
    """
  /// A run of a capture in whose folder one of these is a link fails; the folder itself is the empty name.
  private static let refusedNames = ["", ".scanmill", "color"]

  /// Names of ours that a finished run need not leave.
  private static let ownNames = [
    ".staging", ".failed", ".failed/color", ".scanmill/triage.json", ".scanmill/removed/color.json",
    ".scanmill/empty", ".scanmill/page.json", ".scanmill/thumb-96.jpg", "report.html", "preview",
    ".staging/color.20261122T013000-1-1",
  ]
  private static let rootNames = [
    ".scanmill/catalog.lock",
    ".scanmill/aliases.json", ".scanmill/aliases.lock", ".scanmill/triage.json",
    ".scanmill/nights", "redacted/index.html",
  ]

  /// Names below a folder, relative to it: all folders, and of each folder one file of each kind.
  private func names(in root: FilePath, leavingOut left: Set<String> = []) throws -> [String] {
    var found: [String] = []
    func walk(_ prefix: String) throws {
      var kinds: Set<String> = []
      for name in try FileSystem.names(in: root.pushing(FilePath(prefix))) {
        if prefix.isEmpty, left.contains(name) { continue }
        let path = root.pushing(FilePath(prefix + name))
        let isFolder = FileSystem.isFolder(path)
        let kind = FilePath(name).extension ?? name
        guard isFolder || kind == "json" || kinds.insert(kind).inserted else { continue }
        found.append(prefix + name)
        if isFolder { try walk(prefix + name + "/") }
      }
    }
    try walk("")
    return found
  }

  /// Every verb that reads or writes an output, in an order in which what removes comes last.
  ///
  /// - Parameter half: the verbs that are traced, every second one from this one on; `nil`: all.
  private func traceVerbs(
    _ scene: OutsideScene, _ output: FilePath, captures: [String], _ pipeline: [String],
    _ what: String, half: Int? = nil
  ) throws -> [String: Program.Result] {
    let (input, out) = (scene.path("in").string, output.string)
    let verbs: [(name: String, words: [String])] = [
      ("status", ["status", out]),
      ("explain", ["explain", "\(input)/\(captures[1 % captures.count])", "tables", "-o", out]),
      ("report", ["report", out]),
      ("report --redact", ["report", out, "--redact"]),
      ("view", ["view", out, "-o", scene.path("sheet.png").string]),
      ("run -n", ["run", input, "-o", out, "-n"] + pipeline),
      ("clean", ["clean", out, "--yes"]),
      ("clean --keep-runs", ["clean", out, "--keep-runs", "0d", "--yes"]),
      ("run", ["run", input, "-o", out, "--verify"] + pipeline),
      ("run -R", ["run", input, "-o", out, "-R", "tables"] + pipeline),
      ("watch --once", ["watch", input, "-o", out, "--once", "--settle", "10ms"] + pipeline),
      ("status --csv", ["status", out, "--csv"]),
      ("clean --stage", ["clean", out, "--stage", "color", "--yes"]),
    ]
    var results: [String: Program.Result] = [:]
    for (number, verb) in verbs.enumerated() where half.map({ number % 2 == $0 }) ?? true {
      results[verb.name] = try scene.trace("\(what): \(verb.name)", verb.words)
    }
    return results
  }

  @Test func `links in the folders of captures in an output`() throws {
    let scene = try OutsideScene()
    let example = try synthesize("vi-slam", nil, "s", in: scene.path("shelf"))
    let pipeline = ["--pipeline", try pipeline(scene, Self.cheap)]
    try scene.copy(example, to: scene.path("probe/c"))
    let probe = try Program.run("run \(scene.path("probe")) -o \(scene.path("probed")) \(pipeline)")
    try #require(probe.status == 0, "\(probe.errors)")
    let names =
      try [""] + self.names(in: scene.path("probed/c"))
      + Self.ownNames.filter { !FileSystem.exists(scene.path("probed/c").pushing(FilePath($0))) }
    var places: [(capture: String, name: String, link: Link)] = []
    for (kind, link) in [Link.absolute, .dangling].enumerated() {
      for (number, name) in names.enumerated()
      where Rounds.isSoak || (kind + number) % 16 == 0
        || (kind + number) % 2 == 0 && Self.refusedNames.contains(name)
      {
        places.append(("c\(places.count)", name, link))
      }
    }
    for link in Rounds.every(2, of: [Link.loop, .device, .pipe, .relative, .folder]) {
      for name in [".scanmill", ".scanmill/lock", "capture.json"] {
        places.append(("c\(places.count)", name, link))
      }
    }
    for place in places { try scene.copy(example, to: scene.path("in/\(place.capture)")) }
    let output = scene.path("out")
    let made = try Program.run("run \(scene.path("in")) -o \(output) \(pipeline)")
    try #require(made.status == 0, "\(made.errors)")
    for (capture, name, link) in places {
      let folder = output.appending(capture)
      try scene.put(link, at: name.isEmpty ? folder : folder.pushing(FilePath(name)))
    }
    let results = try traceVerbs(
      scene, output, captures: places.map(\.capture), pipeline, "capture")
    scene.printTable("links in the folders of captures in an output")
    // Refused with the name of the link and what to do.
    let run = try #require(results["run"])
    #expect(run.status == 73, "\(run.output)")
    let said = run.output + run.errors
    // What is up to date takes no lock and stages nothing.
    for (capture, name, link) in places where Self.refusedNames.contains(name) {
      #expect(said.contains("\(capture) failed"), "\(capture) \(name) \(link)")
    }
    #expect(said.contains("is a symbolic link"))
    #expect(said.contains("move it away, or choose another --output"))
  }

  @Test func `links beside the captures of an output`() throws {
    let scene = try OutsideScene()
    let example = try synthesize("vi-slam", nil, "s", in: scene.path("shelf"))
    let pipeline = ["--pipeline", try pipeline(scene, Self.cheap)]
    try scene.copy(example, to: scene.path("in/c"))
    let (input, model) = (scene.path("in").string, scene.path("model"))
    for arguments in [
      ["run", input, "-o", model.string] + pipeline,
      ["watch", input, "-o", model.string, "--once", "--settle", "10ms"] + pipeline,
      ["report", model.string, "--redact"], ["status", model.string, "--csv"],
    ] {
      let made = try Program.run(arguments)
      try #require(made.status == 0, "\(arguments) \(made.errors)")
    }
    // One that has no folder yet.
    try scene.copy(example, to: scene.path("in/d"))
    let found = try names(in: model, leavingOut: ["c"])
    let folders = found.filter { FileSystem.isFolder(model.pushing(FilePath($0))) }
    let files = found.filter { !folders.contains($0) } + Self.rootNames
    // Folders one at a time, files half and half: a link that is refused hides those behind it.
    let refused = [".scanmill", "runs"]
    var groups =
      (refused + Rounds.every(12, of: folders.filter { !refused.contains($0) })).map { [$0] }
    for half in 0..<2 { groups.append(files.indices.filter { $0 % 2 == half }.map { files[$0] }) }
    for link in Rounds.some(of: [Link.absolute, .dangling], 1) {
      for (number, group) in groups.enumerated() {
        let output = scene.path("out-\(link)-\(number)")
        try scene.copy(model, to: output)
        for name in group { try scene.put(link, at: output.pushing(FilePath(name))) }
        let isRefused = number < refused.count
        let results = try traceVerbs(
          scene, output, captures: ["c"], pipeline, "\(link) \(group.joined(separator: " "))",
          half: isRefused || Rounds.isSoak ? nil : number % 2)
        guard isRefused else { continue }
        for verb in ["run", "watch --once"] {
          let result = try #require(results[verb])
          #expect(result.status == 73, "\(group) \(verb): \(result.errors)")
          let said = result.output + result.errors
          #expect(said.contains("\(group[0]): "), "\(group) \(verb): \(said)")
          #expect(said.contains("is a symbolic link"), "\(group) \(verb): \(said)")
          #expect(said.contains("choose another --output"), "\(group) \(verb): \(said)")
        }
      }
    }
    scene.printTable("links beside the captures of an output")
  }

  @Test func `links where captures are synthesized`() throws {
    let scene = try OutsideScene()
    let shelf = scene.path("made")
    try scene.put(.absolute, at: shelf.appending(".synthesize-s"))
    try scene.put(.dangling, at: shelf.appending("s.truth"))
    try scene.put(.absolute, at: shelf.appending("s"))
    let arguments = [
      "synthesize", "strabo", "--output", shelf.string, "--frames", "2", "--id", "s", "--width",
      "64", "--height", "48", "--truth-pictures", "0",
    ]
    try scene.trace("synthesize", arguments)
    try scene.trace("synthesize --replace", arguments + ["--replace"])
    scene.printTable("links where captures are synthesized")
  }
}
