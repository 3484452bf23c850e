import CPlatform
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
