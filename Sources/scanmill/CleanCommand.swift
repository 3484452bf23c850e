import ArgumentParser
import Cluster
import Engine
import Pages
import Core
import SystemPackage
import Watch

struct CleanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clean",
    abstract: "Remove what is not needed: lists it, and removes it with --yes.",
    discussion: """
      Without a choice: intermediates, failed attempts and leftovers of killed runs; no result that \
      is kept. What a run is working on is left alone.
      """)

  @Argument(
    help: "An output folder, or the folder of one capture in it.", completion: Completion.folder)
  var folder: String

  @Option(
    help: ArgumentHelp(
      "The artifacts of these stages (repeatable, or separated by commas).", valueName: "stage,…"),
    completion: Completion.stages)
  var stage: [String] = []

  @Flag(help: "Artifacts of stages that are not kept; they count as up to date without them.")
  var intermediate = false

  @Flag(help: "What failed attempts and killed runs left behind.")
  var failed = false

  @Flag(help: "Results of retired captures; the captures stay retired.")
  var retired = false

  @Option(
    help: ArgumentHelp(
      "Only of captures whose id begins with this or matches this glob (repeatable).",
      valueName: "prefix|glob"))
  var id: [String] = []

  @Option(
    help: ArgumentHelp("Events and logs of runs older than this, e.g. 90d.", valueName: "duration"))
  var keepRuns: String?

  @Flag(help: "Remove what is listed.")
  var yes = false

  @Flag(name: .short, help: "Nothing unless something failed.")
  var quiet = false

  func validate() throws {
    if [!stage.isEmpty, intermediate, failed, retired, keepRuns != nil].count(where: { $0 }) > 1 {
      throw ValidationError(
        "--stage, --intermediate, --failed, --retired and --keep-runs exclude each other: give one of them"
      )
    }
    if !id.isEmpty, retired || keepRuns != nil {
      throw ValidationError("--id does not go with --retired and --keep-runs")
    }
    if let keepRuns, MomentText.durationNanoseconds(keepRuns) == nil {
      throw ValidationError("--keep-runs: '\(keepRuns)' is not a duration, e.g. 90d")
    }
  }

  func run() throws {
    if let age = keepRuns.flatMap(MomentText.durationNanoseconds) { return try cleanRuns(age) }
    if retired { return try cleanRetired() }
    let catalog = try OutputFinder.catalog(folder)
    // Queued array tasks would create removed files again, or need them.
    if yes, let active = try ClusterRuns.active(in: catalog.root).first(where: { !$0.isAbandoned })
    {
      throw CommandFailure(
        ExitStatus.locked,
        "\(active.line); wait for it, or cancel its jobs (scancel --name)")
    }
    let examiner = OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages, chosen: nil,
      standard: try PipelineFinder.load("default"))
    let stages = StageNames.split(stage)
    let cleaning: CleaningChoice =
      !stages.isEmpty
      ? .stages(stages) : intermediate ? .intermediate : failed ? .failed : .leftovers
    var items: [Removable] = []
    var locked: [String: String] = [:]
    var known: [(name: String, kind: String)] = []
    var naming: [String: Set<String>] = [:]
    let choice = NameChoice(idPrefixes: id)
    if let unknown = choice.unknownPrefixes(among: catalog.layouts.map(\.name)).first {
      throw CommandFailure(
        ExitStatus.noCapture,
        "--id \(unknown): no capture here has an id that begins with it or matches it")
    }
    let layouts = catalog.layouts.filter { choice.refusal(ids: [$0.name], names: []) == nil }
    var shown: [String] = []
    let captures = layouts.map { layout in
      let pipeline = examiner.pipeline(of: layout)
      for stage in pipeline.stages where !known.contains(where: { $0.name == stage.name }) {
        known.append((stage.name, stage.kind.name))
      }
      shown += pipeline.shownStages
      return (layout, pipeline)
    }
    // Before anything is removed: a misspelled name may stand beside others.
    for stage in stages where !known.contains(where: { $0.name == stage }) {
      let plan = CleaningChoice.stages([stage])
      guard
        try captures.allSatisfy({ layout, _ in
          try plan.find(layout, intermediates: []).isEmpty && !FileLock.isHeld(at: layout.lock)
        })
      else { continue }
      throw CommandFailure(
        ExitStatus.usage,
        "no stage '\(stage)' here" + StageWords.hint(stage, known, shown: shown.uniqued))
    }
    for (layout, pipeline) in captures {
      let intermediates = pipeline.stages.filter { !$0.keep }.map(\.name)
      for stage in stages {
        let readers = pipeline.stages.filter { reader in
          reader.kind.namesFilesOfInputs && reader.inputs.contains { $0.stage == stage }
            && !stages.contains(reader.name) && FileSystem.isFolder(layout.artifact(reader.name))
        }
        naming[stage, default: []].formUnion(readers.map(\.name))
      }
      if yes, let done = try cleaning.perform(layout, intermediates: intermediates) {
        items += done
      } else if FileLock.isHeld(at: layout.lock) || yes {
        locked[layout.name] = FileLock.holder(of: layout.lock) ?? "another run"
      } else {
        items += try cleaning.find(layout, intermediates: intermediates)
      }
    }
    if !quiet || (yes && !locked.isEmpty) {
      Console.print(Removable.text(items, in: catalog.root, locked: locked, isDone: yes))
    }
    for stage in stages where !quiet && items.contains(where: { $0.stage == stage }) {
      for reader in naming[stage, default: []].sorted() {
        Console.print(
          "\(reader) names files of \(stage), which are missing until a run by hand makes them again"
        )
      }
    }
    let kept = stages.isEmpty && !quiet ? try Removable.retired(in: catalog.root) : []
    if !kept.isEmpty {
      let size = kept.reduce(into: FolderSize()) { $0 += $1.size }
      Console.print(
        "results of \(Plural.text(kept.count, "retired capture")), \(ByteCount.text(size.bytes)), stay: --retired removes them"
      )
    }
    if yes, !locked.isEmpty { throw Exit(code: ExitStatus.locked) }
  }

  private func cleanRetired() throws {
    let root = try OutputFinder.catalog(folder).root
    let items = yes ? try Removable.removeRetired(in: root) : try Removable.retired(in: root)
    if !quiet { Console.print(Removable.text(items, in: root, locked: [:], isDone: yes)) }
  }

  private func cleanRuns(_ age: Int64) throws {
    let root = FilePath(text: folder)
    guard try FileSystem.hasFolder(at: root) else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(folder): no such folder; name the folder that --output named")
    }
    guard try FileSystem.hasFolder(at: root.appending(OutputNames.runs)) else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(folder): no runs here (name the folder that --output named)")
    }
    let items =
      yes
      ? try RunRetention.perform(root: root, olderThanNanoseconds: age)
      : try RunRetention.find(root: root, olderThanNanoseconds: age)
    if !quiet { Console.print(Removable.text(items, in: root, locked: [:], isDone: yes)) }
  }
}
