import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Workers are executed, never forked from a process that has run Swift; some are started before they are needed and
/// wait for their order.
@Suite("Workers that wait for an order", .runsPrograms)
struct WaitingWorkerTests {
  /// Writes what can be seen of the worker from outside, and of what a program that it starts is given. That of `a`
  /// says who it is and waits.
  private static let look = """
    worker=$(sed 's/.*) [A-Z] //; s/ .*//' /proc/$PPID/stat)
    if test "$2" = a; then
      echo $worker > $3/worker.new && mv $3/worker.new $3/worker
      until test -e $3/go; do sleep 0.05; done
    fi
    exec > $1/seen
    cat /proc/$worker/limits /proc/$worker/oom_score_adj
    grep -E '^(Sig(Blk|Ign|Cgt)|Cap|NoNew|Umask|Uid|Groups)' /proc/$worker/status
    sed 's/.*) [A-Z] //' /proc/$worker/stat | awk -v worker=$worker '{print ($2 == worker), $5, $17}'
    tr '\\0' '\\n' < /proc/$worker/cmdline | tail -n +2
    readlink /proc/$worker/exe /proc/$worker/cwd
    cat /proc/$worker/comm
    ls -l /proc/$worker/fd | grep -oE '(pipe|socket|null|worker.log)' | sort | uniq -c
    env | grep -v '^_=' | sort
    ulimit -a
    """

  /// A run of `a` and `b`, one after the other, stopped in the middle of `a`.
  private static func start(_ scene: Scene, _ verb: [String]) throws -> (Running, worker: Int32) {
    let script = scene.folder.path.appending("look.sh")
    try script.write(look)
    let pipeline = try scene.pipeline(
      "  look: {uses: command, with: {command: [sh, \(script), \"{output}\", \"{id}\", \(scene.folder.path)]}}"
    )
    let running = try Program.start(
      verb.prefix(1) + [scene.input.string] + verb.dropFirst() + [
        "--pipeline", pipeline, "--memory", "2GB", "-j", "1", "--output", scene.output.string,
      ])
    let note = scene.folder.path.appending("worker").string
    try scene.wait("the worker of a") { FileManager.default.fileExists(atPath: note) }
    let text = try FilePath(note).text()
    return (running, try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))))
  }

  /// The one that waits.
  private static func waiting(_ running: Running, besides worker: Int32) -> Int32? {
    Processes.children(of: running.process.processIdentifier).first { $0 != worker }
  }

  private static func release(_ scene: Scene) throws {
    try scene.folder.path.appending("go").write("")
  }

  @Test(
    "Who waited and who was started at need have the same limits, signals, group, descriptors and names",
    arguments: [["run"], ["watch", "--once", "--settle", "0s", "--nice"]])
  func same(verb: [String]) throws {
    let scene = try Scene("a", "b", frames: 2)
    let (running, worker) = try Self.start(scene, verb)
    // The worker of `a` has waited; that of `b` is gone before it gets its order, so that another one does the work.
    try scene.wait("one that waits") { Self.waiting(running, besides: worker) != nil }
    kill(try #require(Self.waiting(running, besides: worker)), SIGKILL)
    try Self.release(scene)
    let result = try running.finish()
    try #require(result.status == 0, "\(result.errors)")
    func seen(_ name: String) throws -> [String] {
      let file = scene.output.appending(name).appending("look/seen")
      return try file.text().lines
        .map(String.init)
    }
    #expect(try seen("a").count > 30)
    #expect(try seen("a") == seen("b"))
    #expect(try seen("a").contains("worker"))
  }

  @Test(
    "One that ends while it waits costs nothing: not its capture, not a word",
    arguments: [SIGKILL, SIGSEGV, SIGTERM])
  func killed(signal: Int32) throws {
    let scene = try Scene("a", "b", frames: 2)
    let (running, worker) = try Self.start(scene, ["run"])
    try scene.wait("one that waits") { Self.waiting(running, besides: worker) != nil }
    kill(try #require(Self.waiting(running, besides: worker)), signal)
    try Self.release(scene)
    let result = try running.finish().succeeds()
    #expect(result.output == "a made 1/1\nb made 1/1\n")
    #expect(!result.errors.contains("SIG"))
    #expect(scene.leftovers().isEmpty)
  }

  @Test(
    "It ends with the run, however that ends, and is waited for",
    arguments: [SIGKILL, SIGINT, SIGTERM, SIGHUP])
  func end(signal: Int32) throws {
    let scene = try Scene("a", "b", frames: 2)
    let (running, worker) = try Self.start(scene, ["run", "--grace", "0s"])
    try scene.wait("one that waits") { Self.waiting(running, besides: worker) != nil }
    let waiting = try #require(Self.waiting(running, besides: worker))
    kill(running.process.processIdentifier, signal)
    let result = try running.finish()
    #expect(result.status == (signal == SIGKILL ? -9 : signal == SIGINT ? 130 : 143))
    if signal == SIGKILL {
      try scene.wait("its end") { kill(waiting, 0) != 0 }
    } else {
      #expect(kill(waiting, 0) != 0)
    }
  }

  @Test("Two threads of a worker want the same locks and make the same types for a second")
  func contention() throws {
    let scene = try Scene("a", "b", "c", frames: 2)
    var environment = ProcessInfo.processInfo.environment
    environment["SCANMILL_WORKER_TRIAL"] = "contend"
    let pipeline = try scene.pipeline("  imu: {uses: match-imu}")
    let result = try Program.run(
      scene.arguments(["--pipeline", pipeline, "-j", "2"]), environment: environment
    ).succeeds()
    #expect(result.output == "a made 1/1\nb made 1/1\nc made 1/1\n")
  }

  @Test(
    "Starts of workers by the hundred come to their end",
    .enabled(if: hasPython, "needs python3"))
  func soak() throws {
    let script = Fixtures.projectRoot.appending(".ci/soak-workers")
    let folder = try TemporaryFolder()
    let result = try Running(
      "/usr/bin/env",
      [
        "python3", script.string, "--program", Program.path.string, "--starts", "100", "--captures",
        "20", "--ratio", "0", "--folder", folder.path.string,
      ], in: nil
    ).finish()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("100 starts"))
  }

  static let hasPython: Bool = {
    let asked = try? Running("/usr/bin/env", ["python3", "--version"], in: nil).finish()
    let isThere = asked?.status == 0
    if !isThere { print("skipped: there is no python3 in PATH: .ci/soak-workers is not run") }
    return isThere
  }()

  @Test("A library of FFmpeg that cannot be loaded is named before anything is begun")
  func noLibrary() throws {
    let scene = try Scene("a", frames: 1)
    let libraries = scene.folder.path.appending("lib")
    try FileSystem.makeFolder(libraries)
    let target = try #require(
      try Program.run(["--version"]).output.lines.first {
        $0.hasPrefix("libavcodec")
      }?.split(separator: " ").last?.split(separator: ".").first)
    let name = "libavcodec.so.\(target)"
    try libraries.appending(name).write("no library")
    let result = try Running(
      "/usr/bin/env",
      ["LD_LIBRARY_PATH=\(libraries)", Program.path.string] + scene.arguments([]), in: nil
    ).finish()
    #expect(result.status == 1)
    #expect(result.errors.contains("\(name) cannot be loaded: "))
    #expect(!FileSystem.exists(scene.output))
  }
}
