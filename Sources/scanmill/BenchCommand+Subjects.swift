import Benchmarking
import Captures
import Output
import Pipeline
import Processes
import Runner
import Storage
import SystemPackage

/// A capture that is measured.
struct BenchSubject {
  var path: FilePath
  /// How it was synthesized, if it was.
  var origin: String?
  var summary: CaptureSummary
  var video: FilePath?
  var frames: Int
  /// About how much each stage will write, rather too little.
  var expectedBytes: [String: Int64]

  /// All files that any stage may read.
  var files: [FilePath] { summary.files.values.joined().map { FilePath($0) } }

  var measured: BenchmarkSession.Subject {
    BenchmarkSession.Subject(path: path.string, inputs: files, frames: frames)
  }

  /// What each stage reads: files of the capture, and the artifacts of other stages.
  func stageInputBytes(
    _ pipeline: PipelineDefinition, _ stages: [RunOutcome.Stage]
  ) -> [String: Int64] {
    var bytes: [String: Int64] = [:]
    for stage in pipeline.stages {
      let parts = stage.kind.reads(stage.parameters, connected: Set(stage.inputs.map(\.port)))
      let read = parts.flatMap { summary.files[$0] ?? [] }.map { FilePath($0) }
      let artifacts = stage.inputs.compactMap { input in
        stages.first { $0.stage == input.stage }?.outputBytes
      }
      bytes[stage.name] = FileCost.bytes(of: read) + artifacts.reduce(0, +)
    }
    return bytes
  }
}

extension BenchCommand {
  /// The captures that were named, or a synthesized one.
  func subjects(
    _ program: FilePath, _ pipeline: PipelineDefinition, in folder: FilePath,
    _ runner: ProgramRunner
  ) throws -> [BenchSubject] {
    let finder = CaptureFinder(Toolbox.captures)
    if captures.isEmpty {
      let made = finder.find(try synthesizedCapture(program, in: folder, runner))
      return try made.captures.map { try subject($0, pipeline, origin: origin) }
    }
    let findings = try captures.map { try self.finding($0, finder) }
    if let declined = findings.first(where: { $0.captures.isEmpty }) {
      throw Failure(code: ExitStatus.noCapture, text: declined.declined ?? "no capture")
    }
    return try chosen(findings).map { try subject($0, pipeline, origin: nil) }
  }

  /// What a path leads to; of one that is not there, the only capture beside it whose id begins so.
  private func finding(_ text: String, _ finder: CaptureFinder) throws -> CaptureFinder.Finding {
    let path = FilePath(text: text)
    let finding = finder.find(path)
    guard finding.captures.isEmpty, !FileSystem.exists(path), let start = path.name else {
      return finding
    }
    let around = path.removingLastComponent()
    let folder: FilePath = around.isEmpty ? "." : around
    let entries = ((try? FileSystem.names(in: folder)) ?? []).filter {
      IDPrefix.match(start, among: [$0]) != .none
    }
    var found: [String: Recognition] = [:]
    for entry in entries {
      for capture in finder.find(folder.appending(name: entry)).captures {
        found[capture.id] = capture
      }
    }
    guard let id = try OutputFinder.id(start, among: found.keys.sorted()) else { return finding }
    return CaptureFinder.Finding(path: path, captures: [found[id]].compactMap(\.self))
  }

  /// Those that `--family`, `--exclude`, `--since` and `--id` leave.
  private func chosen(_ findings: [CaptureFinder.Finding]) throws -> [Recognition] {
    let all = findings.flatMap(\.captures)
    try selection.checkIDs(among: all.flatMap { [$0.id, OutputLayout.folderName(forID: $0.id)] })
    let choice = try selection.choice(since: since)
    let chosen = all.filter {
      choice.refusal(
        $0, outputName: OutputLayout.folderName(forID: $0.id), searched: findings.map(\.path))
        == nil
    }
    guard !chosen.isEmpty else {
      throw Failure(
        code: ExitStatus.noCapture,
        text:
          "--family, --exclude, --since and --id leave none of the captures named (\(all.count))")
    }
    return chosen
  }

  var isSelecting: Bool {
    since != nil || !selection.family.isEmpty || !selection.exclude.isEmpty || !selection.id.isEmpty
  }

  private func subject(
    _ recognition: Recognition, _ pipeline: PipelineDefinition, origin: String?
  ) throws -> BenchSubject {
    let capture = try Toolbox.captures.open(recognition)
    var video: FilePath?
    if case .video(let file, _) = capture.color.value?.source { video = file }
    // A capture of a family that names files by a stem is given by one of its files.
    let files = capture.files.values.joined().map(\.string).sorted()
    let path =
      recognition.stem == nil ? recognition.folder : files.first.map { FilePath($0) }
    let pictures = max(
      capture.color.value?.description.frames ?? 0, capture.depth.value?.description.frames ?? 0)
    let expected = pipeline.stages.map {
      ($0.name, $0.kind.expectedBytes($0.parameters, capture) ?? 0)
    }
    return BenchSubject(
      path: path ?? recognition.folder, origin: origin,
      summary: CaptureSummary(
        capture, readerVersion: Toolbox.captures.readerVersion(of: recognition.family)),
      video: video, frames: max(capture.frames.count, pictures),
      expectedBytes: Dictionary(expected) { first, _ in first })
  }

  private var origin: String {
    "synthesized: \(synthesize), \(frames) frames, seed \(seed), noise \(noise), "
      + "exposure \(exposure) s, quality \(quality)"
  }

  /// Made by a process of its own: what this one had in memory would count as memory of the programs
  /// that it starts.
  private func synthesizedCapture(
    _ program: FilePath, in folder: FilePath, _ runner: ProgramRunner
  ) throws -> FilePath {
    let captures = folder.appending("captures")
    if !quiet { Console.error("run: synthesize \(synthesize), \(frames) frames") }
    let outcome = try runner.run(
      program.string,
      [
        "synthesize", synthesize, "--output", captures.string, "--frames", "\(frames)", "--seed",
        "\(seed)", "--noise", "\(noise)", "--exposure", "\(exposure)", "--quality", "\(quality)",
        "--truth-pictures", "0",
      ])
    let words = String(decoding: outcome.output, as: UTF8.self)
    guard outcome.end.isSuccess, let capture = words.split(separator: "\n").first else {
      throw BenchmarkError(
        "the capture cannot be made: " + String(decoding: outcome.error, as: UTF8.self))
    }
    return FilePath(String(capture))
  }
}
