@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Glibc

@testable import Benchmarking

/// Programs are shell scripts here.
@Suite struct SessionTests {
  private let folder: TemporaryFolder
  private let subject: BenchmarkSubject
  private let scratch: FilePath

  init() throws {
    folder = try TemporaryFolder()
    scratch = folder.path.appending("scratch")
    try FileSystem.makeFolder(scratch)
    let input = folder.path.appending("input")
    try OutputFile.write([1, 2, 3], to: input)
    subject = BenchmarkSubject(
      path: "capture", id: "capture", family: "scannet", frames: 10, files: [input], video: nil,
      stages: [])
  }

  private func script(_ text: String) throws -> FilePath {
    let path = folder.path.appending("program")
    try ShellScript.write("#!/bin/sh\n" + text, to: path)
    return path
  }

  private func settings(warmups: Int, isCold: Bool = false) -> BenchmarkReport.Settings {
    BenchmarkReport.Settings(pipeline: "p", repeats: 2, warmups: warmups, isCold: isCold)
  }

  private static let report = """
    cat <<EOF
    {"schema": 1, "run": "r", "exit": 0, "captures": [{"id": "c", "outcome": "made", "stages":
      [{"stage": "color", "uses": "decode-color", "outcome": "made", "seconds": 0.5,
        "cpuSeconds": 0.25, "frames": 10, "framesPerSecond": 20, "bytes": 7}]}]}
    EOF

    """

  @Test(
    "Kinds of runs take turns, warm-up runs do not count, output does not stay",
    arguments: [false, true])
  func turns(isCold: Bool) throws {
    let program = try script("printf 12345 > \"$4/file\"\n" + Self.report)
    let said = Mutex<[String]>([])
    let session = BenchmarkSession(
      program: program, scratch: scratch, settings: settings(warmups: 1, isCold: isCold),
      runner: ProgramRunner(wordsIn: scratch)
    ) { words in said.withLock { $0.append(words) } }
    let measured = try session.measure(subject, jobs: [1, 2])
    #expect(measured.map(\.jobs) == [1, 2])
    #expect(measured.map(\.samples.count) == [2, 2])
    #expect(
      said.withLock { $0 }
        == [Int](repeating: 0, count: 3).flatMap { _ in
          ["capture -j 1 --pipeline p", "capture -j 2 --pipeline p"]
        })
    let sample = try #require(measured.first?.samples.first)
    #expect(sample.outputBytes == 5)
    #expect(sample.stages.first?.bytes == 7)
    #expect(sample.peakMemoryBytes > 0)
    #expect(!FileSystem.exists(scratch.appending("output")))
  }

  @Test(
    "A run that failed is no figure",
    arguments: [
      ("echo no >&2; exit 3", "no"), ("kill -9 $$", "SIGKILL"), ("echo nonsense", "no report"),
      (
        """
        echo '{"exit":0,"captures":[{"id":"c","outcome":"failed","stages":[{"stage":"color","outcome":"failed","message":"broken"}]}]}'
        """, "broken"
      ),
    ])
  func failures(text: String, words: String) throws {
    let session = BenchmarkSession(
      program: try script(text), scratch: scratch, settings: settings(warmups: 0),
      runner: ProgramRunner(wordsIn: scratch)
    ) { _ in }
    let error = try #require(throws: BenchmarkError.self) {
      try session.measure(subject, jobs: [1])
    }
    #expect(error.description.contains(words))
    #expect(!FileSystem.exists(scratch.appending("output")))
  }

  @Test("Peers get the video and a folder; both sizes count pictures only")
  func peers() throws {
    let program = try script(
      "if [ \"$1\" = run ]; then printf 1234567890 > \"$4/other\"\n" + Self.report
        + "else for last; do :; done; printf 12345678901234 > \"${last%/*}/000000.png\"; fi\n")
    let session = BenchmarkSession(
      program: program, scratch: scratch, settings: settings(warmups: 0),
      runner: ProgramRunner(wordsIn: scratch)
    ) { _ in }
    let comparison = try session.compare(
      subject, video: subject.files[0], peers: [.ffmpeg(program.string)])
    #expect(comparison.ours.map(\.outputBytes) == [7, 7])
    #expect(comparison.peers.map(\.outputBytes) == [14])
    #expect(comparison.ratios.map(\.theirsByOurs.outputBytes) == [2, 2])
    // What was run is told, with a name for the folder.
    let commands = try #require(comparison.commands)
    #expect(commands.map(\.name) == ["scanmill, fast", "scanmill, compact", "ffmpeg, default"])
    let video = subject.files[0].string
    #expect(
      commands[2].words == [
        program.string, "-nostdin", "-v", "error", "-i", video, "-fps_mode", "passthrough",
        "-start_number", "0", "DIR/%06d.png",
      ])
    #expect(
      commands[0].words.starts(with: [program.string, "run", "capture", "--output", "DIR"]))
    #expect(commands[0].words.last == "color.compression=fast")
    var report = Samples.report([Samples.run(wall: 1, cpu: 1)])
    report.captures[0].comparison = comparison
    let text = BenchmarkTable.text(report) { $0.joined(separator: "|") }
    for command in commands {
      #expect(text.contains("\n\(command.name): \(command.words.joined(separator: "|"))"))
    }
  }

  @Test("A peer that did other work has no ratio, and is named")
  func otherWork() throws {
    let program = try script(
      "if [ \"$1\" = run ]; then mkdir -p \"$4/c/color\"; cd \"$4/c/color\"; touch artifact.json 000000.png\n"
        + Self.report
        + "else for last; do :; done; touch \"${last%/*}/000000.png\" \"${last%/*}/000001.png\"; fi\n"
    )
    let session = BenchmarkSession(
      program: program, scratch: scratch, settings: settings(warmups: 0),
      runner: ProgramRunner(wordsIn: scratch)
    ) { _ in }
    let comparison = try session.compare(
      subject, video: subject.files[0], peers: [.ffmpeg(program.string)])
    #expect(comparison.peers.count == 1 && comparison.ratios.isEmpty)
    #expect(comparison.note.hasSuffix("other work, thus without ratio: ffmpeg, default"))
    #expect(
      comparison.checks?.map(\.pictures) == [2] && comparison.checks?.map(\.ourPictures) == [1])
  }

  @Test("A benchmark ends on request")
  func ending() throws {
    struct Enough: Error {}
    let session = BenchmarkSession(
      program: try script(Self.report), scratch: scratch, settings: settings(warmups: 0),
      runner: ProgramRunner(wordsIn: scratch)
    ) { _ in throw Enough() }
    #expect(throws: Enough.self) { try session.measure(subject, jobs: [1]) }
  }

  @Test("Bytes are those of regular files, each once")
  func bytes() throws {
    let inner = folder.path.appending("some")
    try FileSystem.makeFolder(inner.appending("deep"))
    try OutputFile.write([1, 2], to: inner.appending("a"))
    try OutputFile.write([1, 2, 3], to: inner.appending("deep").appending("b"))
    #expect(FileCost.bytes(inFolder: inner) == 5)
    #expect(FileCost.bytes(of: [inner.appending("a"), inner.appending("a"), "/absent"]) == 2)
    #expect(FileCost.bytes(inFolder: "/absent") == 0)
    FileCost.dropFromCache([inner.appending("a"), "/absent"])
    #expect(try MappedFile(inner.appending("a")).count == 2)
  }
}
