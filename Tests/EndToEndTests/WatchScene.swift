import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A staging folder, an output, and a pipeline that leaves a line in `ran` for every time that a stage is
/// carried out.
final class WatchScene {
  let folder: TemporaryFolder
  let staging: FilePath
  let output: FilePath
  let pipeline: String
  private let shelf: FilePath

  /// - Parameter stages: in place of the pipeline that only counts.
  init(_ stages: String? = nil) throws {
    folder = try TemporaryFolder()
    staging = folder.path.appending("staging")
    output = folder.path.appending("out")
    shelf = folder.path.appending("shelf")
    try FileSystem.makeFolder(staging)
    try FileSystem.makeFolder(shelf)
    let path = folder.path.appending("pipeline.yaml")
    let text =
      stages
        ?? """
          imu: {uses: match-imu}
          count:
            uses: command
            needs: {source: imu}
            with: {command: [sh, -c, "echo ran >> \(folder.path)/ran; echo x > {output}/x"]}
        """
    try path.write("schema: 1\nstages:\n\(text)\n")
    pipeline = path.string
  }

  /// A capture beside STAGING, to be put there as a test likes.
  func make(
    _ name: String, family: String = "scannet", frames: Int = 4, faults: [String] = []
  ) throws -> FilePath {
    let shelf = shelf.appending(UUID().uuidString)
    let small =
      switch family {
      case "scannet": ["--width", "324", "--height", "242"] + Scene.smallDepth
      default: ["--width", "64", "--height", "48"]
      }
    try Program.synthesize(
      """
      \(family) --frames \(frames) --id \(name) --seed \(name.utf8.reduce(0) { $0 + Int($1) }) \
      \(small) \(faults.flatMap { ["--fault", $0] })
      """, to: shelf)
    return shelf.appending(name)
  }

  /// A capture that is whole, in STAGING.
  @discardableResult
  func put(_ name: String, as path: String? = nil) throws -> FilePath {
    let made = try make(name)
    let place = staging.appending(FilePath(path ?? name).components)
    try FileSystem.makeFolder(place.removingLastComponent())
    try made.move(to: place)
    return place
  }

  /// The words of a watcher in a hurry.
  func words(_ more: [String] = []) -> [String] {
    [
      "watch", staging.string, "--output", output.string, "--pipeline", pipeline, "--settle",
      "600ms", "--poll", "200ms", "--retry-after", "300ms",
    ] + more
  }

  func once(_ more: Words = "") throws -> Program.Result {
    try Program.run(words(["--once"] + more.list))
  }

  func start(_ more: Words = "") throws -> Running { try Program.start(words(more.list)) }

  /// Runs a shell script in name spaces of its own, where it may mount, with helpers: `until_ COMMAND` waits, `says
  /// PATTERN` looks at what the watcher noted, `looks N` waits for so many looks of one that has `--metrics "$M"`.
  func isolated(_ script: String) throws -> Program.Result {
    let quoted = words().map { "'\($0)'" }.joined(separator: " ")
    let text = """
      S='\(staging)'; O='\(output)'; W="$O/.scanmill/watch.json"; T='\(folder.path)'; M="$T/looks.prom"
      until_() { n=0; until "$@"; do n=$((n+1)); [ $n -gt 6000 ] && { echo "gave up: $*"; cat "$W"; df "$O"; exit 9; }; sleep 0.1; done; }
      says() { grep -q "$1" "$W" 2>/dev/null; }
      silent() { ! says "$1"; }
      # Until the watcher has looked so many times more: it replaces its metrics at every look.
      looks() { k=0; while [ $k -lt $1 ]; do was=$(seen); until_ newer "$was"; k=$((k+1)); done; }
      seen() { stat -c '%i %z' "$M" 2>/dev/null; }
      newer() { [ "$(seen)" != "$1" ]; }
      begun() { cat "$T/begun" 2>/dev/null | wc -l; }
      page() { grep -q "$1" "$O/index.html" 2>/dev/null; }
      fill() { head -c 1000000000 /dev/zero > "$O/filler" 2>/dev/null; }
      start() { '\(Program.path)' \(quoted) "$@" & P=$!; }
      stop() { kill -TERM $P; wait $P; echo "ended $?"; }
      trap 'kill -9 $P 2>/dev/null' EXIT
      \(script)
      """
    return try DiskTests.isolated(text)
  }

  /// What the watcher says.
  var record: [String: Any] {
    (try? output.appending(".scanmill/watch.json").contents?.json()) ?? [:]
  }

  /// State by id, of captures that wait.
  var waiting: [String: String] {
    let list = record["waiting"] as? [[String: Any]] ?? []
    return Dictionary(
      list.compactMap { item in
        (item["id"] as? String).flatMap { id in (item["state"] as? String).map { (id, $0) } }
      }
    ) { first, _ in first }
  }

  /// How often a stage that counts was carried out.
  var ran: Int {
    folder.path.appending("ran").contents?.count { $0 == UInt8(ascii: "\n") } ?? 0
  }

  func isDone(_ name: String, _ stage: String = "count") -> Bool {
    FileSystem.exists(output.appending(name).appending(stage).appending("artifact.json"))
  }

  /// What is noted of failures of a capture.
  func triage(_ name: String) -> [String: Any]? {
    try? output.appending(name).appending(".scanmill/triage.json").contents?.json()
  }

  /// Waits until `condition` holds; fails when it does not.
  func wait(
    _ what: String, location: SourceLocation = #_sourceLocation,
    until condition: () throws -> Bool
  ) throws {
    try Waiting.until(what, at: location, condition) { "the watcher says \(record)" }
  }
}

extension Running {
  func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

  /// Ends it as a service manager does.
  func stop() throws -> Program.Result {
    signal(SIGTERM)
    return try finish()
  }
}
