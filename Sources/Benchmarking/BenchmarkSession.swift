import Core
import Glibc
import SystemPackage

/// Measures runs of this program and of peers, each with an empty output folder that is removed
/// afterward.
struct BenchmarkSession {
  /// The executable to measure.
  let program: FilePath
  /// A folder for outputs, on the file system to be measured.
  let scratch: FilePath
  let settings: BenchmarkReport.Settings
  let runner: ProgramRunner
  /// Called before each run with its description; throws to end the benchmark.
  let willRun: @Sendable (String) throws -> Void

  /// Measures the whole pipeline, once per number of jobs and repetition; the numbers of jobs
  /// alternate.
  func measure(_ subject: BenchmarkSubject, jobs: [Int]) throws -> [(
    jobs: Int, samples: [RunSample]
  )] {
    let samples = try inTurn(jobs.count) { index in
      try run(subject, jobs: jobs[index], ["--pipeline", settings.pipeline])
    }
    return zip(jobs, samples).map { ($0, $1) }
  }

  /// Measures this program and peers at the same work, alternating, on all cores. The results of each peer in the
  /// first round are compared with this program's; a peer that did other work gets no ratio.
  func compare(
    _ subject: BenchmarkSubject, video: FilePath, peers: [PeerCommand]
  ) throws -> PeerComparison {
    let ours = PeerWork.allCases.filter { work in peers.contains { $0.work == work } }
      .flatMap { work in work.runs.map { (name: $0.name, options: $0.options, work: work) } }
    var kept: [PeerWork: [(stage: String, pictures: KeptPictures)]] = [:]
    var checks: [PictureCheck] = []
    var checked: Set<String> = []
    var wrong: Set<String> = []
    let place = scratch.appending("kept-pictures")
    defer { try? FileSystem.remove(place) }
    let samples = try inTurn(ours.count + peers.count) { index in
      if index < ours.count {
        let own = ours[index]
        var sample = try run(subject, jobs: 0, own.options) { output in
          guard kept[own.work] == nil else { return }
          kept[own.work] = try own.work.stages.compactMap { stage in
            guard let results = Self.artifact(stage, in: output) else { return nil }
            let folder = place.appending("\(own.name), \(stage)")
            return (stage, try KeptPictures(of: results, to: folder))
          }
        }
        let bytes = sample.stages.filter { own.work.stages.contains($0.stage) }
          .compactMap(\.bytes)
        if !bytes.isEmpty { sample.outputBytes = bytes.reduce(0, +) }
        return sample
      }
      let peer = peers[index - ours.count]
      try willRun(peer.name)
      return try self.sample(peer.program, subject) {
        peer.arguments(
          video: video.string, folder: $0.string, ignoresEditList: subject.ignoresEditList)
      } inspect: { output in
        guard checked.insert(peer.name).inserted else { return }
        let isWhole = peer.work != .color
        for (stage, pictures) in kept[peer.work] ?? [] {
          let check = try pictures.check(
            isWhole ? "\(peer.name): \(stage)" : peer.name,
            in: isWhole ? output.appending(stage) : output)
          checks.append(check)
          // Aligned depth differs by its method.
          let mustAgree = isWhole && stage != "aligned"
          if check.pictures != check.ourPictures || mustAgree && check.differingShare ?? 0 > 0 {
            wrong.insert(peer.name)
          }
        }
      }.sample
    }
    var comparison = PeerComparison(
      note: "this program and peers in turn on the same capture, all cores",
      ours: Array(zip(ours.map(\.name), samples)),
      peers: Array(zip(peers.map(\.name), samples.dropFirst(ours.count))), frames: subject.frames,
      inputBytes: FileCost.bytes(of: [video]))
    if !wrong.isEmpty {
      comparison.note +=
        "; other work, thus without ratio: \(wrong.sorted().joined(separator: "; "))"
    }
    let works = Dictionary(
      firstOf: ours.map { ($0.name, $0.work) } + peers.map { ($0.name, $0.work) })
    comparison.ratios.removeAll {
      works[$0.ours] != works[$0.peer] || wrong.contains($0.peer)
    }
    comparison.checks = checks
    let folder = PeerComparison.Command.folder
    comparison.commands =
      ours.map { own in
        PeerComparison.Command(
          name: own.name,
          words: [program.string] + Self.arguments(subject, jobs: 0, own.options, output: folder))
      }
      + peers.map { peer in
        PeerComparison.Command(
          name: peer.name,
          words: [peer.program]
            + peer.arguments(
              video: video.string, folder: folder, ignoresEditList: subject.ignoresEditList))
      }
    return comparison
  }

  private static func arguments(
    _ subject: BenchmarkSubject, jobs: Int, _ options: [String], output: String
  ) -> [String] {
    ["run", subject.path.string, "--output", output, "--json", "-q", "--progress", "none"]
      + ["-j", "\(jobs)"] + options
  }

  /// The folder published by a stage; one capture was processed.
  static func artifact(_ stage: String, in output: FilePath) -> FilePath? {
    ((try? FileSystem.names(in: output)) ?? []).lazy.map {
      output.appending(name: $0).appending(stage)
    }.first { FileSystem.exists($0.appending("artifact.json")) }
  }

  /// Calls runs 0 ..< count alternately, first to warm up, then to measure, so that a temporary
  /// slowdown of the machine affects all.
  private func inTurn(
    _ count: Int, _ body: (Int) throws -> RunSample
  ) throws -> [[RunSample]] {
    var samples = [[RunSample]](repeating: [], count: count)
    for round in 0..<(settings.warmups + settings.repeats) {
      for index in 0..<count {
        let sample = try body(index)
        if round >= settings.warmups { samples[index].append(sample) }
      }
    }
    return samples
  }

  private func run(
    _ subject: BenchmarkSubject, jobs: Int, _ options: [String],
    inspect: (FilePath) throws -> Void = { _ in }
  ) throws -> RunSample {
    try willRun(
      ([subject.path.string, "-j", "\(JobNumbers.cores(of: jobs))"] + options)
        .joined(separator: " "))
    let (outcome, sample) = try sample(
      program.string, subject, { Self.arguments(subject, jobs: jobs, options, output: $0.string) },
      inspect: inspect)
    guard let report = try? RunOutcome(json: outcome.output) else {
      throw BenchmarkError(description: "a run printed no report and \(outcome.end.phrase)")
    }
    if let problem = report.problem { throw BenchmarkError(description: problem) }
    var own = sample
    own.stages = report.captures.first?.stages ?? []
    return own
  }

  /// `arguments` and `inspect` get the output folder; `inspect` is called before it is removed.
  private func sample(
    _ program: String, _ subject: BenchmarkSubject, _ arguments: (FilePath) -> [String],
    inspect: (FilePath) throws -> Void
  ) throws -> (outcome: ProgramRunner.Outcome, sample: RunSample) {
    let folder = scratch.appending("output")
    try FileSystem.remove(folder)
    try FileSystem.makeFolder(folder)
    defer { try? FileSystem.remove(folder) }
    if settings.isCold { FileCost.dropFromCache(subject.files) }
    let outcome = try runner.run(program, arguments(folder))
    guard outcome.end.isSuccess else {
      throw BenchmarkError(description: "\(program) \(outcome.end.phrase): \(outcome.lastWords)")
    }
    let sample = RunSample(outcome, outputIn: folder)
    try inspect(folder)
    return (outcome, sample)
  }
}

/// File sizes and the page cache.
enum FileCost {
  /// Bytes of the files that exist, each counted once.
  static func bytes(of files: some Sequence<FilePath>) -> Int64 {
    Set(files.map(\.string)).reduce(0) {
      $0 + ((try? FileIdentity(of: FilePath($1)).bytes) ?? 0)
    }
  }

  /// Bytes of all regular files in a folder, recursively; links are not followed.
  static func bytes(inFolder folder: FilePath) -> Int64 {
    var total: Int64 = 0
    for name in (try? FileSystem.names(in: folder)) ?? [] {
      let path = folder.appending(name)
      if FileSystem.isLink(path) { continue }
      total +=
        FileSystem.isFolder(path)
        ? bytes(inFolder: path) : (try? FileIdentity(of: path).bytes) ?? 0
    }
    return total
  }

  /// Requests that the kernel drops the files from the page cache, after writing dirty pages. Needs
  /// only permission to read. Pages that another process has mapped stay.
  static func dropFromCache(_ files: some Sequence<FilePath>) {
    for path in files {
      guard let file = try? EnclosedPaths.openForReading(path) else {
        continue
      }
      fsync(file.rawValue)
      posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
      try? file.close()
    }
  }
}
