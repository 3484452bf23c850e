@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Glibc

@testable import Benchmarking

/// The program is a shell script here.
@Suite struct FloorSessionTests {
  private let folder: TemporaryFolder
  private var work: FilePath { folder.path.appending("work") }
  private let said = Said()

  private final class Over: Sendable {
    let isTrue = Atomic(false)
  }

  /// What was about to run.
  private final class Said: Sendable {
    let words = Mutex<[String]>([])
  }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("work"))
  }

  /// A run writes one file of ten bytes per stage; `broken` fails.
  private static let program = """
    #!/bin/sh
    sample() { echo "{\\"userSeconds\\": $1, \\"systemSeconds\\": 0.5, \\"wallSeconds\\": 2, \\"pictures\\": 4, \\"pixels\\": 8000000, \\"files\\": 1, \\"bytes\\": 10}"; }
    case "$1 $2" in
    "floor touch") ;;
    "floor copy") mkdir -p "$4" && cp -r "$3/." "$4" && sample 0.5 ;;
    floor*) sample 1.5 ;;
    run*)
      case "$*" in *broken*)
        echo '{"exit": 1, "captures": [{"id": "c", "outcome": "failed", "stages": [{"stage": "broken", "outcome": "failed", "message": "cut short"}]}]}'
        exit 1 ;;
      esac
      for stage in color depth; do mkdir -p "$4/c/$stage" && printf 1234567890 > "$4/c/$stage/artifact.json"; done
      echo '{"exit": 0, "captures": [{"id": "c", "outcome": "made", "stages": []}]}' ;;
    esac

    """

  private func session(repeats: Int = 2, warmups: Int = 1) throws -> FloorSession {
    let program = folder.path.appending("program")
    try ShellScript.write(Self.program, to: program)
    return FloorSession(
      program: program, folder: work,
      settings: BenchmarkReport.Settings(
        pipeline: "p", repeats: repeats, warmups: warmups, isCold: false), jobs: 2,
      runner: ProgramRunner(wordsIn: folder.path)
    ) { [said] words in said.words.withLock { $0.append(words) } }
  }

  private static func stage(_ name: String, _ reading: [FloorPart]) -> BenchmarkSubject.Stage {
    var stage = BenchmarkSubject.Stage(name: name)
    (stage.reading, stage.expectedBytes) = (reading, 100)
    return stage
  }

  private static let color = stage("color", [.decode, .convert])
  private static let depth = stage("depth", [.depth])
  private static let broken = stage("broken", [.depth])

  private func subject(_ stages: BenchmarkSubject.Stage...) -> BenchmarkSubject {
    BenchmarkSubject(
      path: "capture", id: "capture", family: "scannet", frames: 4, files: [], video: nil,
      stages: stages)
  }

  @Test("Parts and runs take turns, every one in a folder of its own; the warm-up does not count")
  func turns() throws {
    let measured = try session().measure(subject(Self.color, Self.depth), usedJobs: 2)
    #expect(measured.figures.stages.map(\.name) == ["color", "depth"])
    #expect(measured.figures.stages.map(\.floorSeconds) == [3, 3])
    #expect(measured.figures.stages.map(\.megapixels) == [8, 8])
    #expect(measured.figures.whole?.floorSeconds == 6)
    #expect(measured.figures.stages[0].ours.cpuSeconds.samples.count == 2)
    #expect(measured.wholeRuns.count == 2)
    let words = said.words.withLock { $0 }
    let round = words.prefix(8).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(
      round == [
        "floor decode", "floor convert", "capture -j", "floor copy", "floor depth", "capture -j",
        "floor copy", "capture -j",
      ])
    #expect(words.count == 3 * 8 + 1)
    #expect(words[8].hasPrefix("floor touch "))
    #expect(words[2] == "capture -j 2 --pipeline p --until color")
    #expect(words[7] == "capture -j 2 --pipeline p")
    for index in 0..<3 {
      #expect(
        try FileSystem.names(in: work.appending("round-\(index)"))
          == ["copy-color", "copy-depth", "ours", "ours-color", "ours-depth"])
    }
  }

  @Test("A stage that fails is left out with its reason; the sum is of the others")
  func left() throws {
    let measured = try session().measure(subject(Self.broken, Self.depth), usedJobs: 2)
    #expect(measured.figures.stages.map(\.name) == ["depth"])
    #expect(measured.figures.whole?.floorSeconds == 3)
    #expect(measured.wholeRuns.isEmpty, "it was not the whole pipeline")
    let notes = measured.figures.notes
    #expect(notes.contains { $0.hasPrefix("broken: left out, ") && $0.contains("cut short") })
    #expect(said.words.withLock { $0.last } == "capture -j 2 --pipeline p --until depth")
  }

  @Test("Without a stage that works, or that has a floor, there are notes and no figures")
  func nothing() throws {
    for subject in [subject(Self.broken), subject()] {
      let measured = try session().measure(subject, usedJobs: 2)
      #expect(measured.figures.stages.isEmpty)
      #expect(measured.figures.whole == nil)
      #expect(measured.figures.notes.count == subject.stages.count)
    }
  }

  @Test("Too little disk space is an error before anything is written")
  func room() throws {
    var stage = Self.color
    stage.expectedBytes = .max
    let error = try #require(throws: FileError.self) {
      try session().measure(subject(stage), usedJobs: 2)
    }
    #expect(error.kind == .noSpace)
    #expect(said.words.withLock { $0.isEmpty })
    // After the first round it is known what all take.
    let later = try #require(throws: FileError.self) {
      try session(repeats: Int.max - 1).measure(subject(Self.color), usedJobs: 2)
    }
    #expect(later.kind == .noSpace)
  }

  @Test("Logs of a program that failed are not named: they go with its output")
  func lastWords() throws {
    let words = "machine: no space\n  log /tmp/x\nread more: logs in /tmp/x\n1 capture"
    let outcome = try ProgramRunner(wordsIn: folder.path).run(
      "/bin/sh", ["-c", "printf '%s' '\(words)' >&2; exit 1"])
    #expect(outcome.lastWords == "machine: no space\n1 capture")
  }

  @Test("What runs can be ended from another thread")
  func stop() throws {
    let runner = ProgramRunner(wordsIn: folder.path)
    // Nothing runs yet.
    runner.stop()
    let over = Over()
    // A thread of its own: all threads of tasks may be busy with other tests. Who runs cannot be seen from outside, so
    // the end is asked for again and again.
    try #require(
      JobThread.start {
        while !over.isTrue.load(ordering: .acquiring) {
          runner.stop()
          usleep(20_000)
        }
      })
    let end = try runner.run("/bin/sleep", ["60"]).end
    over.isTrue.store(true, ordering: .releasing)
    #expect(end.way == .killed(signal: SIGTERM))
  }
}
