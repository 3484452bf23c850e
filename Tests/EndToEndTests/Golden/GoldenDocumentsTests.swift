import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// What programs of others read and what people see, in `Tests/Snapshots/golden`. After a deliberate change
/// `SCANMILL_SNAPSHOTS=1 swift test --filter GoldenDocumentsTests` writes them anew; `git diff` shows what has changed.
@Suite("Every document about captures in every state, byte by byte", .runsPrograms)
struct GoldenDocumentsTests {
  /// Nothing may depend on the number of cores or the free memory.
  private static let run = "scanmill run in -o out -j 1 --memory 2GB"
  private static let pipeline = "--pipeline pipeline.yaml"

  private func check(_ text: String, _ name: String) throws {
    try Snapshots.check(text, "golden/\(name)")
  }

  @Test("What is printed and written about them is what it was")
  func captures() throws {
    let scene = try GoldenScene()
    let (run, pipeline) = (Self.run, Self.pipeline)
    try check(
      scene.printed([
        "scanmill inspect in", "scanmill inspect in/whole", "scanmill inspect in --json",
      ]), "inspect")
    try check(
      scene.printed(["\(run) -n \(pipeline)", "\(run) -n \(pipeline) --json"]), "plan-before")
    try check(
      scene.printed([
        "\(run) --pipeline exports --id whole,geo --json -q", "\(run) \(pipeline) --exclude later",
      ]), "run")
    try scene.spoil()
    try check(
      scene.printed([
        "scanmill mark done-as-is out/accepted --note 'good enough' --json",
        "scanmill mark ignore out/broken --until 2099-12-31",
        "scanmill mark retire out/retired --yes --json", "scanmill clean out --stage thumbnail",
      ]), "mark")
    var lock: FileLock? = try scene.hold()
    try check(
      scene.printed([
        "\(run) -n \(pipeline) --set imu.window=20ms", "\(run) -n \(pipeline) --json",
        "\(run) \(pipeline) --id held --no-wait -R imu",
      ]), "plan")
    try check(
      scene.printed([
        "scanmill status out --staging in",
        "scanmill status out --set imu.window=30ms --all", "scanmill status out/whole",
        "scanmill status out --staging in --json", "scanmill status out --staging in --csv",
      ]), "status")
    try check(
      scene.printed([
        "scanmill report out --since 24h --format json",
        "scanmill report out --since 24h --format csv",
        "scanmill report out --since 24h --format json --redact", "scanmill report out --since 24h",
      ]), "report")
    for (name, page) in [
      ("page-night", "index.html"), ("page-capture", "changed/report.html"),
      ("page-failed", "broken/report.html"),
    ] {
      try check(scene.text("\(scene.output)/\(page)"), name)
    }
    let questions = [
      "whole color,imu", "bad check,report", "broken depth-frames,depth", "altered color",
      "partial color", "torn color", "gone color", "geo aligned", "held color", "lacking imu",
      "changed imu --set imu.window=20ms",
    ].map { "scanmill explain -o out \(pipeline) \($0)" }
    let each = questions.dropFirst(3).map { "\($0) --json" }
    try check(
      scene.printed(
        questions + each + ["scanmill explain frame-gap", "scanmill explain frame-gap --json"]),
      "explain")
    withExtendedLifetime(lock) {}
    lock = nil

    let whole = ["whole", "geo", "warned"]
    for name in whole { try check(scene.documents(in: name), "capture-\(name)") }
    try check(
      scene.documents(in: "") { name in
        name.hasSuffix("capture.json") && !whole.contains { name.hasPrefix("\($0)/") }
      }, "captures")
    try check(
      scene.documents(in: "runs") + scene.events(of: ["whole", "bad", "broken"]), "runs")
    try check(
      scene.printed(["\(run) \(pipeline) --exclude later --json", "\(run) \(pipeline) -n"]), "again"
    )
  }

  @Test("What the program measures, with figures masked, and says of itself is what it was")
  func itself() throws {
    let scene = try GoldenScene()
    let bench = "scanmill bench in/whole --pipeline preview --repeat 1 --warmup 0 -q -j 1"
    try check(scene.printed(["\(bench) --json", "\(bench) --csv"], .figures), "bench")
    try check(
      scene.printed([
        "scanmill list parameters imu,color --json", "scanmill list stages --json",
        "scanmill list families --json",
        "scanmill view in/whole -o look.png --json",
      ]), "itself")
  }
}

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
        \(capture.more)
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
    return try place.namesBelow().filter { name in
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

/// Marks in the place of what differs from one run, one day and one machine to another.
enum GoldenMask {
  enum Extent { case volatile, figures }

  /// Yesterday, today and tomorrow: times of recordings are earlier, and stay.
  private static let days: String = {
    let days = [-86_400, 0, 86_400].map {
      UTCText.day(nanoseconds: Int64(Date().timeIntervalSince1970 + $0) * 1_000_000_000)
    }
    return "(\(days.joined(separator: "|")))"
  }()

  /// The order counts.
  private static let volatile: [(pattern: String, mark: String)] = [
    // Runs and moments.
    (#"[0-9]{8}T[0-9]{6}-[0-9]+-[0-9a-f]+-[0-9a-f]+"#, "RUN"),
    (days + #"T[0-9:]{8}(\.[0-9]+)?Z"#, "TIME"),
    (days, "DAY"),
    (#"\b[0-9]{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b"#, "DAY"),
    (#"(DAY )?(?<![:+T-])\b[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?\b"#, "CLOCK"),
    // What was measured: in JSON, in a log, in a table behind the time of the run and two cells, in words.
    (
      #"("(seconds|cpuSeconds|framesPerSecond|peakMemoryBytes|memoryBytes|cores|inodes)" ?: ?)[-+.0-9e]+"#,
      "$1N"
    ),
    (#"(\bseconds=)[-+.0-9e]+"#, "$1N"),
    (#"(TIME,([^,\n"]|"[^"]*")*,([^,\n"]|"([^"]|"")*")*,)[-+.0-9e]+(?=,[0-9]*,)"#, "$1N"),
    (#"( · )[0-9.]+ (s|min)( [0-9]+ s)?\b"#, "$1DURATION"),
    (#"(?m) in [0-9]+ s$"#, ""),
    (#"(CLOCK to CLOCK, )[0-9]+ h"#, "$1DURATION"),
    // The same on pages, where times are drawn as well.
    (#"(?s)(<figure class="plot timeline">).*?(?=</figure>)"#, "$1…"),
    (#"(?s)(<h2 id="(attempts|timeline|work)-title">).*?(?=</section>)"#, "$1…"),
    (#"(<td data-label="(Seconds|Cores|Memory)">)[^<]*"#, "$1…"),
    (#"(<td data-value=")[0-9.]+">[0-9.]+ s(?=</td>)"#, #"$1N">DURATION"#),
    (
      #"(<dd data-total="(cpuSeconds|seconds)">)[0-9.]+(</dd><dd class="said">)[^<]*"#,
      "$1N$3DURATION"
    ),
    // Of artifacts with their records, which hold times.
    (#"(?m)^ *[0-9.]+ kB(?=  | in [0-9]+ files would)"#, "SIZE"),
    // The machine, the build, the user.
    (#"\([0-9.]+ [kMGT]?B free\)(, about [0-9].*)?"#, "(SIZE free)"),
    (#"("bytes" : )[0-9]+(,\s*"inodes")"#, "$1N$2"),
    (#"("(reserve|total)Bytes" : )[0-9]+"#, "$1N"),
    (#"("(memoryBytes" : N,\s*"name|host)" : )"[^"]*""#, #"$1"HOST""#),
    (#"( · <bdi>)[^<]*(</bdi> · scanmill [0-9.]+)( \([^)]*\))?"#, "$1HOST$2 (…)"),
    (#"(Built from commit</th><td data-label="Value"><bdi>)[^<]*"#, "$1…"),
    (#"(<td data-label="Program"><bdi>[0-9.]+)( \([^)]*\))?"#, "$1 (…)"),
    (#"("(cpu|os|commit|(lib|zimg)[a-z]*)" : )("[^"]*"|null)"#, #"$1"…""#),
    (#"(?<=[ >])((lib|zimg)[a-z]*) +[0-9]+\.[0-9.]+"#, "$1 VERSION"),
    (#"("at" : "TIME",\s*"by" : )"[^"]*""#, #"$1"USER""#),
    (#"("user" : )"[^"]*"(?=,\s*"workingDirectory")"#, #"$1"USER""#),
    (#"\bby [^ ,]+( at TIME|, CLOCK)"#, "by USER$1"),
  ]

  /// Every number that was measured, and what is said of the machine that measured.
  private static let figures: [(pattern: String, mark: String)] = [
    (#"(?<=[ :,])-?[0-9][-+.0-9e]*(?=[,\s])"#, "N"),
    (#"("(fileSystem|governor|processor|system)" : )"[^"]*""#, #"$1"…""#),
    (#"(?s)("warnings" : \[).*?\]"#, "$1…]"),
    (#"TIME,.*"#, "TIME,…"),
  ]

  /// - Parameter place: the folder of the test, whose path pages break after slashes.
  static func masked(_ text: String, place: String, _ extent: Extent) -> String {
    let broken = String(place.dropFirst()).replacing("/", with: "/<wbr>")
    let plain = text.replacing(place, with: "PLACE").replacing("/<wbr>" + broken, with: "PLACE")
    return (volatile + (extent == .figures ? figures : [])).reduce(digested(plain)) {
      $0.replacingOccurrences(of: $1.pattern, with: $1.mark, options: .regularExpression)
    }
  }

  /// With digests in the place of what nobody reads: pictures, styles and scripts inside of pages.
  private static func digested(_ text: String) -> String {
    text.replacing(/(;base64,)([A-Za-z0-9+\/=]+)/) { $0.1 + Digest(of: Array($0.2.utf8)).hex }
      .replacing(/(<style>|<script>)(.*?)(?=<\/)/.dotMatchesNewlines()) {
        $0.1 + Digest(of: Array($0.2.utf8)).hex
      }
  }
}
