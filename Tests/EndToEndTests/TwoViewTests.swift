import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// One folder as two machines see it: another device number, names and attributes from a cache.
enum TwoViews {
  /// Runs a shell script in name spaces of its own, which end with all that runs in them. In it
  /// `view FOLDER PLACE LOG` shows FOLDER at PLACE, with a device number that PLACE has not had before;
  /// what is asked of the file system stands in LOG.
  static func isolated(_ script: String) throws -> Program.Result { try start(script).finish() }

  /// Starts another machine, with processes and locks of its own, without waiting.
  static func start(_ script: String) throws -> Running {
    let view = """
      mounted() { grep -q " $1 " /proc/self/mounts; }
      view() {
        # A second one is made beside the first, which stays: two that are there have two numbers.
        place=$2
        if mounted "$2"; then place=$2.next; mkdir "$place" || exit 91; fi
        bindfs -f -d -o attr_timeout=30,entry_timeout=30,negative_timeout=30 "$1" "$place" 2> "$3" &
        while ! mounted "$place"; do kill -0 $! || exit 90; sleep 0.05; done
        [ "$place" = "$2" ] || mount --bind "$place" "$2" || exit 92
      }

      """
    return try Running(
      "/usr/bin/unshare",
      ["-Urmpf", "--kill-child", "--mount-proc", "sh", "-c", view + script], in: nil)
  }

  static let arePossible: Bool = {
    guard let folder = try? TemporaryFolder(),
      (try? FileSystem.makeFolder(folder.path.appending("a"))) != nil,
      (try? FileSystem.makeFolder(folder.path.appending("v"))) != nil
    else { return false }
    let (from, to) = (folder.path.appending("a"), folder.path.appending("v"))
    let tried = try? isolated("view \(from) \(to) \(folder.path.appending("log"))")
    if tried?.status != 0 {
      print(
        "skipped: two views of one folder need bindfs, /dev/fuse and unshare -Urm "
          + "(\(tried?.errors.lines.last.map(String.init) ?? "no unshare"))")
    }
    return tried?.status == 0
  }()
}

@Suite("A folder that several machines share", .runsPrograms)
struct TwoViewTests {
  @Test(
    "What was made through one view is up to date through another, and nothing is opened for it",
    .enabled(if: TwoViews.arePossible, "needs bindfs"))
  func rerun() throws {
    let folder = try TemporaryFolder()
    let (real, view) = (folder.path, folder.path.appending("view"))
    try FileSystem.makeFolder(view)
    for seed in ["5", "6"] {
      // A family whose captures have folders of their own: what is known of one tells what it is.
      try Program.synthesize("strabo --frames 4 --seed \(seed)", to: real.appending("shared/in"))
    }
    // Files that have only just changed are looked into again: not what this is about.
    try TwoViews.isolated(
      """
      cd \(real)
      run() { \(Program.path) run \(view)/in --output \(view)/out "$@"; }
      sleep 3
      view \(real)/shared \(view) first.log
      stat -c %d \(view) > devices
      run > first.txt || exit 1
      view \(real)/shared \(view) second.log
      stat -c %d \(view) >> devices
      run -n --json > plan.json || exit 2
      run --json > run.json || exit 3
      run -n --verify --json > verified.json || exit 4
      """
    ).succeeds()
    func text(_ name: String) throws -> String {
      try real.appending(name).text()
    }
    #expect(Set(try text("devices").lines).count == 2)
    func opened(_ log: String) throws -> [Substring] {
      try text(log).lines.filter {
        $0.contains("open flags: ") && $0.contains(" /in/") && !$0.contains(".truth/")
      }
    }
    #expect(try !opened("first.log").isEmpty)
    #expect(try opened("second.log") == [])
    for name in ["plan.json", "verified.json"] {
      let plan = try Data(try text(name).utf8).json()
      let captures = try plan.objects("captures")
      #expect(captures.count == 2)
      for stage in try captures.flatMap({ try $0.objects("stages") }) {
        #expect(stage["reason"] == nil)
        #expect(["up-to-date", "not-applicable"].contains(stage["action"] as? String))
      }
    }
    let run = try Data(try text("run.json").utf8).json()
    let reports = try run.objects("captures")
    #expect(reports.compactMap { $0["outcome"] as? String } == ["up-to-date", "up-to-date"])
    let outcomes = reports.flatMap { $0["stages"] as? [[String: Any]] ?? [] }
      .compactMap { $0["outcome"] as? String }
    #expect(Set(outcomes).isSubset(of: ["up-to-date", "not-possible"]))
    #expect(outcomes.contains("up-to-date"))
  }

  @Test(
    "Two machines at once at one capture, each with locks of its own, spoil nothing for each other",
    .enabled(if: TwoViews.arePossible, "needs bindfs"))
  func atOnce() throws {
    // Depth of the app's size: both are at work for a while.
    let scene = try Scene("a", frames: 8, depth: [])
    let (real, view) = (scene.folder.path, scene.folder.path.appending("view"))
    try FileSystem.makeFolder(view)
    try FileSystem.makeFolder(real.appending("shared"))
    try FileSystem.rename(scene.input, to: real.appending("shared/in"))
    let machines = try (1...2).map { number in
      try TwoViews.start(
        """
        cd \(real)
        view \(real)/shared \(view) \(number).log
        \(Program.path) run \(view)/in --output \(view)/out --forceall
        """)
    }
    // An intermediate that one has removed after its use may be missed by the other: that one says so, and fails.
    var wereBothDone = true
    for machine in machines {
      let result = try machine.finish()
      if result.status == 0 {
        #expect(result.output == "a made 6/6\n")
      } else {
        wereBothDone = false
        // Which of the two signs it meets first is chance: the lock's, or the file that is gone.
        #expect(result.output.contains("cause=machine"), "\(result.output) \(result.errors)")
        #expect(
          result.errors.contains("locks-not-shared")
            || result.errors.contains("is another machine working on this output?"),
          "\(result.errors)")
      }
    }
    let input = real.appending("shared/in").string
    if !wereBothDone {
      try Program.run("run \(input) --output \(real.appending("shared/out"))").succeeds()
    }
    let verified = try Program.run(
      "run -n --exit-code --verify \(input) --output \(real.appending("shared/out"))")
    #expect(verified.status == 0, "\(verified.output)")
    if wereBothDone { #expect(scene.leftovers("shared/out") == []) }
    try Program.run("run \(input) --output \(scene.output)").succeeds()
    #expect(try scene.digests("shared/out") == scene.digests())
  }
}
