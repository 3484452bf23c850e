import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("A full disk: pages and notes are written, captures wait", .runsPrograms)
struct FullDiskTests {
  /// A stage that writes so much, and leaves a line for each time that it begins.
  private static func writing(_ mebibytes: Int, _ scene: WatchScene) throws {
    let text = """
      schema: 1
      stages:
        big:
          uses: command
          with: {command: [sh, -c, "echo begun >> \(scene.folder.path)/begun; head -c \(mebibytes << 20) /dev/zero > {output}/x"]}

      """
    try FilePath(scene.pipeline).write(text)
  }

  @Test(
    "The page, the notes, the metrics and the notification of the last byte of a disk",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func pages() throws {
    let scene = try WatchScene()
    try FileSystem.makeFolder(scene.output)
    try scene.put("first")
    let late = try scene.make("second")
    let result = try scene.isolated(
      """
      mount -t tmpfs -o size=64m tmpfs "$O"
      start --page-every 1s --metrics "$O/scanmill.prom" --notify "cat > '$T/told'"
      until_ test -e "$O/first/count/artifact.json"
      until_ page 'data-id="first"'
      test -s "$O/.scanmill/reserve" || echo "nothing is reserved"
      fill
      mv '\(late)' "$S/second"
      until_ page 'data-id="second"'
      until_ page 'disk of the output is'
      until_ says '"waitsFor" : "disk"'
      until_ grep -q 'hold{reason="disk"} 1' "$O/scanmill.prom"
      test -e "$O/second" && echo "something was started"
      '\(Program.path)' status "$O" | grep -q 'waits for: disk' || echo "status says nothing of it"
      stop
      grep -q '"ended"' "$W" || echo "its end was not noted"
      page 'data-id="second"' || echo "the last page is gone"
      grep -q '"id" *: *"second"' "$T/told" || echo "nobody was told"
      test -e "$O/.scanmill/reserve" && echo "the reserve is left"
      start
      rm "$O/filler"
      until_ test -e "$O/second/count/artifact.json"
      stop
      """)
    #expect(result.output == "ended 143\nended 143\n", "\(result.errors)")
    #expect(result.errors.contains("warning") && result.errors.contains("is full"))
    #expect(scene.ran == 2)
  }

  @Test(
    "Captures for which the disk is too small wait, without failing one after the other; with room they go on",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func waiting() throws {
    let scene = try WatchScene()
    try Self.writing(30, scene)
    try FileSystem.makeFolder(scene.output)
    for name in ["a", "b", "c", "d"] { try scene.put(name) }
    let result = try scene.isolated(
      """
      mount -t tmpfs -o size=200m tmpfs "$O"
      head -c 180000000 /dev/zero > "$O/filler"
      start -j 1 --retry-after 1h --page-every 1s --metrics "$M"
      until_ says '"waitsFor" : "disk"'
      until_ silent running
      until_ page 'too full'
      looks 5
      test "$(begun)" = 1 || echo "begun $(begun) times"
      ls "$O"/*/.scanmill/triage.json 2>/dev/null
      grep -q failed "$W" && echo "something failed"
      '\(Program.path)' status "$O" --staging "$S" --json | grep -q '"failed" *: *0' || echo "status says that something failed"
      rm "$O/filler"
      until_ silent queued
      until_ silent running
      for c in a b c d; do test -e "$O/$c/big/artifact.json" || echo "$c is not done"; done
      test "$(begun)" = 5 || echo "begun $(begun) times in all"
      stop
      """)
    #expect(result.output == "ended 143\n", "\(result.errors)")
    #expect(result.errors.contains("became full while it was processed"))
    #expect(result.errors.contains("work continues"))
  }

  @Test(
    "What captures of its kind wrote before is known: one that does not fit is not begun",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func known() throws {
    let scene = try WatchScene()
    try Self.writing(30, scene)
    try FileSystem.makeFolder(scene.output)
    try scene.put("a")
    let late = try scene.make("b")
    let result = try scene.isolated(
      """
      mount -t tmpfs -o size=200m tmpfs "$O"
      start
      until_ test -e "$O/a/big/artifact.json"
      until_ silent running
      stop
      head -c 150000000 /dev/zero > "$O/filler"
      start --metrics "$M"
      mv '\(late)' "$S/b"
      until_ says '"waitsFor" : "disk"'
      until_ says neededBytes
      looks 5
      test "$(begun)" = 1 || echo "it was begun"
      '\(Program.path)' status "$O" | grep -q 'waits for: disk (needs about' || echo "status does not say how much"
      stop
      '\(Program.path)' \(scene.words(["--once"]).map { "'\($0)'" }.joined(separator: " ")); echo "once $?"
      '\(Program.path)' status "$O" | grep interrupted
      rm "$O/filler"
      start
      until_ test -e "$O/b/big/artifact.json"
      stop
      """)
    #expect(result.output == "ended 143\nended 143\nonce 73\nended 143\n", "\(result.errors)")
    #expect(result.errors.contains("too full: b needs about"))
  }
}

@Suite("Places that cannot take the results, and places that are not what they seem", .runsPrograms)
struct DiskTests {
  /// Runs a shell script in name spaces of its own, where it may mount.
  static func isolated(_ script: String) throws -> Program.Result {
    try Running("/usr/bin/unshare", ["-Urm", "sh", "-c", script], in: nil).finish()
  }

  static let canMount: Bool = {
    let folder = try? TemporaryFolder()
    let place = folder?.path.string ?? "/nowhere"
    let isDone = (try? isolated("mount -t tmpfs -o size=1m tmpfs \(place)").status) == 0
    if !isDone { print("skipped: this machine lets nobody mount a small disk (unshare -Urm)") }
    return isDone
  }()

  @Test(
    "A full disk fails the job with what it would have needed; what is published stays",
    .enabled(if: canMount, "needs a user name space with mounts"))
  func full() throws {
    let scene = try Scene("a", frames: 60)
    try FileSystem.makeFolder(scene.output)
    let listing = scene.folder.path.appending("listing")
    let result = try Self.isolated(
      """
      mount -t tmpfs -o size=3m tmpfs \(scene.output)
      \(Program.path) run \(scene.input) --output \(scene.output); code=$?
      find \(scene.output)/a -maxdepth 1 > \(listing)
      exit $code
      """)
    #expect(result.status == 73)
    #expect(result.output.hasPrefix("a failed "))
    #expect(result.errors.contains("no space left"))
    #expect(result.errors.contains("are needed"))
    let places = try listing.text()
    // Small tables find room when pictures do not.
    #expect(places.contains("/a/imu\n"))
    #expect(!places.contains(".staging"))
  }

  @Test(
    "A disk that fills up while a stage writes stops it short of the last byte",
    .enabled(if: canMount, "needs a user name space with mounts"))
  func filling() throws {
    let scene = try Scene("a")
    try FileSystem.makeFolder(scene.output)
    let pipeline = try scene.pipeline(
      """
        imu: {uses: match-imu}
        big:
          uses: command
          needs: {source: imu}
          with: {command: [sh, -c, "head -c 100000000 /dev/zero > {output}/x"]}
      """)
    let result = try Self.isolated(
      """
      mount -t tmpfs -o size=4m tmpfs \(scene.output)
      \(Program.path) run \(scene.input) --output \(scene.output) --pipeline \(pipeline)
      """)
    #expect(result.status == 73)
    #expect(result.output == "a failed 1/2 cause=machine\n")
  }

  @Test(
    "An output that cannot be written at all is exit 73, with the path",
    arguments: ["read-only", "a file", "inside a file"])
  func unwritable(kind: String) throws {
    let scene = try Scene("a")
    let result: Program.Result
    switch kind {
    case "read-only":
      // Nobody, root included, makes folders in /proc.
      result = try Program.run("run \(scene.input) --output /proc/scanmill")
    case "a file":
      try scene.output.write("")
      result = try scene.run()
    default:
      try scene.output.write("")
      result = try scene.run(to: "out/inner")
    }
    #expect(result.status == 73)
    #expect(result.errors.contains(kind == "read-only" ? "/proc/scanmill" : scene.output.string))
  }
}
