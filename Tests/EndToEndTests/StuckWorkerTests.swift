import CPlatform
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// Workers whose threads do not go on, and how the run ends: the clock that judges a stage runs in its worker and
/// stands still with it.
@Suite(
  "A worker that does not get on is ended from outside and its capture tried once more",
  .runsPrograms)
struct StuckWorkerTests {
  /// A run of one capture, whose second stage goes on until a file is there.
  private struct Trial {
    let scene: Scene
    let running: Running

    init(_ trial: String = "freeze", _ more: [String] = ["--stall", "3s"]) throws {
      scene = try Scene("a", frames: 2)
      let mark = scene.folder.path.appending("mark")
      let pipeline = try scene.pipeline(
        """
          imu: {uses: match-imu}
          slow:
            uses: command
            with: {command: [sh, -c, "until test -e '\(mark)'; do sleep 0.1; echo .; done; echo > {output}/x"]}
        """)
      var environment = ProcessInfo.processInfo.environment
      environment["SCANMILL_WORKER_TRIAL"] = trial
      environment["SCANMILL_SILENCE_SECONDS"] = "5"
      environment["SCANMILL_SPIN_SECONDS"] = trial == "spin" ? "3" : "120"
      running = try Program.start(
        scene.arguments(["--pipeline", pipeline] + more), environment: environment)
    }

    /// The worker, once its slow stage goes on; another one than `before`.
    func worker(after before: Int32? = nil) throws -> Int32 {
      let parent = running.process.processIdentifier
      var found: Int32?
      try scene.wait("a worker at work") {
        // Its program: a worker that is only starting has none.
        found = Processes.children(of: parent).first {
          $0 != before && !Processes.children(of: $0).isEmpty
        }
        return found != nil && scene.hasStarted("slow")
      }
      return try #require(found)
    }

    /// Lets the slow stage come to its end.
    func release() throws {
      try scene.folder.path.appending("mark").write("")
    }

    /// What the worker has written.
    var log: String {
      let runs = scene.output.appending("runs")
      let texts = ((try? FileSystem.names(in: runs)) ?? []).compactMap { run in
        let log = runs.appending(run).appending("logs").appending("a").appending("worker.log")
        return try? log.text()
      }
      return texts.joined()
    }
  }

  /// Which threads of a worker stop.
  enum Kind: String, CaseIterable, Sendable {
    case main, all, stopped

    func stop(_ worker: Int32) {
      let threads = Processes.threads(of: worker)
      switch self {
      case .main: _ = scanmill_freeze(worker, worker)
      case .all: for thread in threads { _ = scanmill_freeze(worker, thread) }
      case .stopped: kill(worker, SIGSTOP)
      }
    }
  }

  @Test(
    "Each thread in turn stands still: the capture is done all the same, and the log says where")
  func eachThread() throws {
    var number = 0
    var count = 1
    var wasStuck: [Int] = []
    while number < count {
      let trial = try Trial()
      let worker = try trial.worker()
      let threads = Processes.threads(of: worker)
      count = threads.count
      let thread = threads[min(number, count - 1)]
      #expect(scanmill_freeze(worker, thread) == 0)
      // It stands before the stage may end.
      Waiting.untilTaken(SIGSYS, by: worker, thread: thread)
      try trial.release()
      let result = try trial.running.finish()
      #expect(result.status == 0, "thread \(number) of \(count): \(result.errors)")
      #expect(result.output == "a made 2/2\n")
      #expect(trial.scene.leftovers().isEmpty)
      if result.errors.contains("tried once more") {
        wasStuck.append(number)
        #expect(trial.log.contains("where the threads of process \(worker) stand:"))
        // From the kernel and, since its other threads go on, from the process itself.
        #expect(trial.log.contains("state S"))
        #expect(trial.log.contains("scanmill+0x"))
      }
      #expect(kill(worker, 0) != 0)
      number += 1
    }
    // Main, who listens to instructions, who looks at memory, who works: without the first nothing goes on.
    #expect(count >= 4)
    #expect(wasStuck.contains(0))
  }

  @Test(
    "When it happens again the capture has failed, by the program",
    arguments: Rounds.every(2, of: Kind.allCases))
  func twice(kind: Kind) throws {
    let trial = try Trial()
    let first = try trial.worker()
    kind.stop(first)
    let second = try trial.worker(after: first)
    kind.stop(second)
    let result = try trial.running.finish()
    #expect(result.status == 1)
    // Whether the first stage had ended when the worker was stopped is not the test's to say.
    #expect(
      ["a failed 0/2 cause=program\n", "a failed 1/2 cause=program\n"].contains(result.output))
    #expect(result.errors.contains("its worker process told of no progress for"))
    #expect(result.errors.contains("please report it"))
    #expect(result.errors.contains("where its threads stood: "))
    for worker in [first, second] {
      #expect(trial.log.contains("where the threads of process \(worker) stand:"))
      #expect(kill(worker, 0) != 0)
    }
    // A process that was stopped by a signal does not say where it stands; the kernel does.
    #expect(trial.log.contains("state T") == (kind == .stopped))
    #expect(trial.log.contains("scanmill+0x") == (kind != .stopped))
    #expect(
      trial.scene.leftovers() == ["a/.failed"],
      "\(trial.scene.contents(of: "a/.staging")); \(result.errors)")
    // The next run does what is left.
    try trial.release()
    // Three seconds are little on a busy machine for stages that do get on.
    let words = trial.running.process.arguments ?? []
    let next = try Program.run(words.map { $0 == "3s" ? "1min" : $0 })
    #expect(next.status == 0, "\(next.output)\(next.errors)")
  }

  @Test("One that computes without end is ended long before its stage would have stalled")
  func spinning() throws {
    let trial = try Trial("spin", ["--stall", "1h"])
    let worker = try trial.worker()
    for thread in Processes.threads(of: worker) { _ = scanmill_freeze(worker, thread) }
    let second = try trial.worker(after: worker)
    #expect(second != worker)
    try trial.release()
    let result = try trial.running.finish().succeeds()
    #expect(result.output == "a made 2/2\n")
    #expect(result.errors.contains("used the processor for"))
    #expect(trial.log.contains("where the threads of process \(worker) stand:"))
  }

  @Test("A stage that may be silent for long, and a worker that waits for a lock, go on")
  func patience() throws {
    let scene = try Scene("a", frames: 2)
    let pipeline = try scene.pipeline(
      """
        slow:
          uses: command
          stall: 10min
          # Longer than a worker may be silent here: that it goes on all the same is what is tested.
          with: {command: [sh, -c, "sleep 20; echo > {output}/x"]}
      """)
    var environment = ProcessInfo.processInfo.environment
    environment["SCANMILL_SILENCE_SECONDS"] = "8"
    let words = scene.arguments(["--pipeline", pipeline, "--stall", "2s"])
    let first = try Program.start(words, environment: environment)
    try scene.wait("the slow stage") { scene.hasStarted("slow") }
    // It finds the capture locked, for longer than it might be silent.
    let second = try Program.run(words, environment: environment).succeeds()
    // The first has made it meanwhile.
    #expect(second.output == "a up-to-date 1/1\n")
    let result = try first.finish().succeeds()
    #expect(result.output == "a made 1/1\n")
    #expect(!(result.errors + second.errors).contains("no progress"))
  }
}

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

  static let hasPython = ForeignPrograms.has("python3", else: ".ci/soak-workers is not run")

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

@Suite("Threads, descriptors and memory used up", .runsPrograms)
struct ExhaustionTests {
  private static func shell(_ script: String) throws -> Program.Result {
    try Running(
      "/bin/bash", ["-c", script.replacing("%", with: "'\(Program.path)'")], in: nil
    ).finish()
  }

  /// Two captures and what an undisturbed run makes of them, in `whole`; made once, each test has an output of its own.
  private static let scene = Result {
    let scene = try Scene("a", "b")
    let run = try scene.run(to: "whole")
    try #require(run.status == 0, "\(run.errors)")
    return scene
  }

  @Test(
    "With few descriptors, little address space, or small files only, a run ends, says so, and a later one completes",
    arguments: Rounds.every(
      2,
      of: [
        "-n 8", "-n 12", "-n 20", "-n 40", "-n 80", "-v 200000", "-v 400000", "-v 800000", "-f 8",
        "-f 64",
      ]))
  func limits(limit: String) throws {
    let scene = try Self.scene.get()
    let name = "out\(limit.filter { $0 != " " })"
    let output = scene.folder.path.appending(name)
    let result = try Self.shell(
      "ulimit \(limit); exec timeout -k 5 120 % run \(scene.input) --output \(output) -j 2")
    #expect(result.status != 124 && result.status != 137, "\(result.errors)")
    let isWhole = try scene.digests(name) == scene.digests("whole")
    #expect((result.status == 0) == isWhole, "\(limit): \(result.status) \(result.errors)")
    if result.status != 0 { #expect(!result.errors.isEmpty) }
    if limit.hasPrefix("-f") { #expect(result.status == 73, "\(result.errors)") }
    try scene.run(to: name).succeeds()
    #expect(try scene.digests(name) == scene.digests("whole"))
  }

  /// Runs a line where `/proc` is empty.
  private static func withoutProc(_ line: String) throws -> Program.Result {
    try shell("exec unshare -m sh -c 'mount -t tmpfs none /proc && \(line)'")
  }

  private static let canHideProc = (try? withoutProc("true"))?.status == 0

  @Test(
    "Without /proc a verb that needs none works, and one that needs it says so with 70",
    .enabled(if: canHideProc, "needs unshare and mount"))
  func noProc() throws {
    let scene = try Self.scene.get()
    let stages = try Self.withoutProc("\(Program.path) list stages")
    #expect(stages.status == 0 && stages.output.contains("align-depth"), "\(stages.errors)")
    let run = try Self.withoutProc(
      "\(Program.path) run \(scene.input) --output \(scene.folder.path)/noproc")
    #expect(run.status == 70 && run.errors.contains("/proc"), "\(run.errors)")
  }

  static let canChangeUser = getuid() == 0 && FileSystem.exists("/usr/bin/setpriv")

  @Test(
    "With few processes and threads a run ends by itself, and SIGTERM ends it",
    .enabled(if: canChangeUser, "needs root and setpriv"),
    arguments: Rounds.every(4, of: [1, 2, 3, 4, 6, 8, 12, 16, 24, 40]))
  func processes(count: Int) throws {
    let scene = try Scene("a")
    // The user id is that of no other process.
    let user = 70_000 + Int(getpid() % 10_000) * 40 + count
    let run = "run \(scene.input) --output \(scene.output)"
    let result = try Self.shell(
      """
      chmod -R a+rX \(scene.folder.path) && mkdir -m 777 \(scene.output)
      exec setpriv --reuid \(user) --clear-groups \\
        bash -c 'ulimit -u \(count); exec timeout -k 5 120 "$0" \(run)' %
      """)
    #expect(result.status != 124 && result.status != 137, "\(result.errors)")
    if result.status != 0 { #expect(!result.errors.isEmpty) }
  }
}
