import ArgumentParser
import Core
import Engine
import Media
import Pages
import Stages
import SystemPackage

struct PackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Pack published frames of many captures into one data set.",
    discussion: """
      Packs the captures of an output that are done, and of them those that match all filters. Files go \
      as they were published; those changed since are compared with their digests (in HDF5, depth and \
      confidence become arrays); \
      the same results give the same bytes, and shards that are there are kept.
      """)

  @Argument(
    help: "An output folder, or the folder of one capture in it.", completion: Completion.folder)
  var folder: String

  @Option(
    help: ArgumentHelp(
      "webdataset: tar files of samples. hdf5: files with a group for each capture.",
      valueName: "format"))
  var to: Packer.Format

  @Option(
    help: ArgumentHelp(
      "The folder of the data set: new, empty, or one that this made before.", valueName: "dir"),
    completion: Completion.folder)
  var into: String

  @Option(
    help: ArgumentHelp(
      "Which pictures of a frame: color, depth, confidence, aligned, mask; default: all that there are (separated by commas).",
      valueName: "names"))
  var with: String?

  @Option(
    help: ArgumentHelp(
      "Parts that keep together: capture, scene, device, blocks:10s, or every:8 (each eighth frame).",
      valueName: "what"))
  var split: String?

  @Option(
    help: ArgumentHelp(
      "The parts and their shares, with --split; default: train=80,val=10,test=10.",
      valueName: "shares"))
  var shares: String?

  @Option(
    help: ArgumentHelp(
      "A shard ends before it is larger than this; hdf5: about, because its depth is compressed anew.",
      valueName: "size"))
  var shardSize = "1GB"

  @OptionGroup var filter: StatusFilterArguments

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(name: .short, help: "Nothing unless something failed.")
  var quiet = false

  func validate() throws { _ = try packer(root: ".") }

  private func packer(root: FilePath) throws -> Packer {
    var packer = Packer(root: root, into: FilePath(text: into), stages: Toolbox.stages)
    packer.format = to
    if to == .hdf5, let problem = HDF5Object.libraryProblem {
      throw ValidationError("--to hdf5: \(problem)")
    }
    if let with {
      packer.columns = try SelectionArguments.split([with]).map { name in
        try SelectionArguments.known(
          name, Packer.columns.first { $0 == name }, "picture", Packer.columns)
      }
    }
    if shares != nil, split == nil {
      throw ValidationError("--shares has no effect without --split")
    }
    if let split {
      let shares = shares ?? "train=80,val=10,test=10"
      guard let parsed = FrameSplit(split, shares: shares) else {
        throw ValidationError(
          "--split is capture, scene, device, blocks:10s or every:8, and --shares such as train=80,val=10,test=10; not '\(split)' with '\(shares)'"
        )
      }
      packer.split = parsed
    }
    guard let bytes = SizeText.bytes(shardSize) else {
      throw ValidationError(
        "--shard-size is a size with its unit, such as 1GB, not '\(shardSize)'")
    }
    packer.shardBytes = bytes
    return packer
  }

  func run() throws {
    let filter = try filter.filter()
    let looked = try ReadOutput(folder, OutputReader())
    try self.filter.selection.checkIDs(among: looked.view.rows.flatMap(\.callNames))
    self.filter.selection.tellIdleExclusions(among: looked.view.rows.flatMap(\.matchNames))
    let packer = try packer(root: looked.view.root)
    let place = try FileSystem.absolute(packer.into)
    guard !place.starts(with: try FileSystem.absolute(packer.root)) else {
      throw CommandFailure(
        ExitStatus.usage,
        "\(into) lies in the output, whose folders are captures: name one outside of it")
    }
    let rows = looked.view.rows.filter(filter.holds)
    let done = rows.filter { $0.state == .done }
    guard !rows.isEmpty else {
      throw CommandFailure(ExitStatus.noCapture, "\(folder): no capture here matches")
    }
    guard !done.isEmpty else {
      let these =
        rows.count < looked.view.rows.count ? "no capture here that matches" : "no capture here"
      throw CommandFailure(
        ExitStatus.jobFailed,
        "\(folder): \(these) is done, so nothing is packed; `scanmill status` tells how they stand"
      )
    }
    let needy = done.filter(\.needsPerson)
    if !needy.isEmpty, !quiet {
      let codes = needy.flatMap { Set($0.reasons.map(\.code.rawValue)) }
      let counts = Dictionary(codes.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
      Console.error(
        "note: \(Plural.text(needy.count, "capture")) of these \(Plural.word(needy.count, "needs you", "need you")) and \(Plural.word(needy.count, "is", "are")) packed: "
          + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }
    let progress = SearchProgress(
      isShown: !quiet && Console.isErrorTerminal, afterSeconds: 2,
      nowSeconds: RunClock.system.monotonicSeconds, write: Console.progress)
    defer { progress.clear() }
    let outcome: Packer.Outcome
    do {
      outcome = try packer.pack(done) { progress.step("packing captures", $0, of: done.count) }
    } catch let error as PackError {
      throw CommandFailure(
        error.isLocked ? ExitStatus.locked : ExitStatus.cannotWrite, error.text)
    }
    progress.clear()
    if json {
      Console.print(json: try JSONText.pretty(outcome))
    } else if !quiet {
      for line in Self.lines(outcome, into: packer.into, leftOut: rows.count - done.count) {
        Console.print(line)
      }
    }
    for problem in outcome.problems {
      let sample = problem.sample.map { ", sample \($0)" } ?? ""
      Console.error("error: \(problem.capture)\(sample): \(problem.message)")
    }
    if !outcome.problems.isEmpty { throw Exit(code: ExitStatus.jobFailed) }
  }

  private static func lines(
    _ outcome: Packer.Outcome, into: FilePath, leftOut: Int
  ) -> [String] {
    var lines = outcome.parts.sorted { $0.key < $1.key }.map { name, part in
      "\(name)  \(Plural.text(part.samples, "sample")) in \(Plural.text(part.shards, "shard"))"
    }
    lines.append(
      "\(into.shown): \(Plural.text(outcome.samples, "sample")) of \(Plural.text(outcome.captures, "capture")), \(ByteCount.text(outcome.bytes)); \(outcome.shardsWritten) written, \(outcome.shardsKept) kept, \(outcome.shardsRemoved) removed"
    )
    if !outcome.samplesWithout.isEmpty {
      lines.append(
        "samples without: "
          + outcome.samplesWithout.sorted { $0.key < $1.key }
          .map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }
    if outcome.framesBetweenParts > 0 {
      lines.append(
        "\(Plural.text(outcome.framesBetweenParts, "frame")) at borders of parts left out")
    }
    if leftOut > 0 { lines.append("\(Plural.text(leftOut, "capture")) not done, left out") }
    return lines
  }
}

extension Packer.Format: ExpressibleByArgument {}
