import ArgumentParser
import Captures
import Core
import Engine
import Pages
import Stages
import SystemPackage

/// `scanmill list`: what there is to name on command lines and in pipeline files.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract:
      "What can be named: stages, parameters, exports, families, codes, pipelines, quality.",
    discussion: """
      stages [KIND]: the kinds of stages that pipeline files name under `uses`; of one, inputs and parameters. \
      parameters [PIPELINE] [STAGE|STAGE.PARAM …]: what --set takes, as in `list parameters imu`, `list parameters \
      depth,aligned`, `list parameters exports export-colmap` or `list parameters imu.window`; those that experts \
      need stand last. exports [NAME]: the formats of --export. families [NAME]: the app formats, and how each is \
      recognized. codes [CODE]: warnings, causes, reasons and states. pipelines [NAME]: those that come with the \
      program; of one, its file. quality [NAME]: what quality.for takes; of one, its file of thresholds.
      """)

  enum Subject: String, CaseIterable, ExpressibleByArgument {
    case stages, parameters, exports, families, codes, pipelines, quality
  }

  @Argument(help: "What is listed.")
  var subject: Subject

  @Argument(
    help: "One of them, in full, or several separated by commas.", completion: Completion.listed)
  var names: [String] = []

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    switch subject {
    case .parameters: try listParameters()
    case .stages:
      let kinds = Toolbox.stages.stages
      let chosen = try chosen(kinds.map { $0.name }, "kind of stage", hint: BuiltInStages.kindHint)
      try tell(StageHelp(kinds.filter { chosen.contains($0.name) }), \.text)
    case .exports:
      let kinds = ExportFormats.exports
      let chosen = try chosen(kinds.map { ExportNames.short($0.name) }, "export")
      try tell(StageHelp(kinds.filter { chosen.contains(ExportNames.short($0.name)) }), \.text)
    case .families:
      let readers = Toolbox.captures.readers
      let chosen = try chosen(readers.map { $0.description.family.rawValue }, "family")
      try tell(
        FamilyHelp(readers.filter { chosen.contains($0.description.family.rawValue) }), \.text)
    case .codes:
      let chosen = try Set(chosen(CodeReference.entries.map(\.code), "code"))
      try tell(CodeList(codes: CodeReference.entries.filter { chosen.contains($0.code) }), \.text)
    case .pipelines:
      let chosen = try chosen(PipelineFinder.offered, "pipeline")
      let files = chosen.map {
        FileList.File($0, PipelineFinder.text(ofBuiltIn: $0), description: "description: ")
      }
      try tell(FileList(pipelines: files), \.text)
    case .quality:
      let purposes = QualityPurpose.shipped
      let chosen = try chosen(purposes.map(\.name), "purpose")
      let files = purposes.filter { chosen.contains($0.name) }.map {
        FileList.File($0.name, $0.text, description: "# ")
      }
      try tell(FileList(quality: files), \.text)
    }
  }

  private func tell<Help: Encodable>(_ help: Help, _ text: (Help) -> String) throws {
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(text(help)) }
  }

  /// Those of `known` that are named, all without names.
  ///
  /// - Parameters:
  ///   - word: what one of them is called.
  ///   - hint: what an unknown name may be instead.
  private func chosen(
    _ known: [String], _ word: String, hint: (String) -> String? = { _ in nil }
  ) throws -> [String] {
    let named = StageNames.split(names)
    for name in named where !known.contains(name) {
      let nearest = hint(name) ?? NearestName.suggestion(name, among: known)
      throw CommandFailure(
        ExitStatus.usage,
        "no \(word) '\(name)'\(nearest); `scanmill list \(subject.rawValue)` lists them")
    }
    return named.isEmpty ? known : named
  }

  /// Codes, one line for each, or everything about one.
  private struct CodeList: Encodable {
    var schema = 1
    var codes: [CodeReference.Entry]

    var text: String {
      if codes.count == 1 { return codes[0].text }
      var table = TextTable()
      for entry in codes { table.add([entry.code, entry.kind.rawValue, entry.meaning]) }
      return table.text
    }
  }

  /// Files that come with the program, one line for each, or one of them.
  private struct FileList: Encodable {
    struct File: Encodable {
      var name: String
      var description: String
      var file: String

      /// - Parameter key: what the line with the description begins with.
      init(_ name: String, _ file: String, description key: String) {
        (self.name, self.file) = (name, file)
        let line = file.split(separator: "\n").first { $0.hasPrefix(key) }
        description = line.map { String($0.dropFirst(key.count)) } ?? ""
      }
    }

    var schema = 1
    var pipelines: [File]?
    var quality: [File]?

    var text: String {
      let files = (pipelines ?? []) + (quality ?? [])
      if files.count == 1 { return files[0].file }
      var table = TextTable()
      for file in files { table.add([file.name, file.description]) }
      return table.text
    }
  }

  // MARK: Parameters

  private func listParameters() throws {
    let (pipeline, stages) = try choice()
    for name in stages { try Self.check(name, in: pipeline) }
    try tell(ParameterHelp(pipeline, only: stages.isEmpty ? nil : Set(stages)), \.text)
  }

  /// Throws if there is no such stage, or the stage has no such parameter.
  private static func check(_ name: String, in pipeline: PipelineDefinition) throws {
    let stage = pipeline[name] == nil ? stage(of: name) : name
    try pipeline.checkStage(stage)
    guard stage != name else { return }
    let help = ParameterHelp(pipeline, only: [stage])
    if help.names.contains(name) { return }
    let parameters = help.shownNames.map { String($0.dropFirst(stage.count + 1)) }
    throw CommandFailure(
      ExitStatus.usage,
      "stage '\(stage)' has no parameter '\(name.dropFirst(stage.count + 1))'"
        + NearestName.suggestion(String(name.dropFirst(stage.count + 1)), among: parameters)
        + "; it has: " + parameters.joined(separator: ", "))
  }

  /// `imu` of `imu.window`.
  private static func stage(of name: String) -> String {
    name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// The pipeline, and the stages and parameters of it that are named; none for all. A format is named with or without
  /// `export-`.
  private func choice() throws -> (PipelineDefinition, [String]) {
    guard let first = names.first else { return (try PipelineFinder.load("default"), []) }
    if PipelineFinder.builtIn.contains(first) || FileSystem.exists(FilePath(text: first)) {
      return (try PipelineFinder.load(first), StageNames.split(Array(names.dropFirst())))
    }
    let pipelines = try PipelineFinder.builtIn.map(PipelineFinder.load)
    let has = { (name: String) in
      pipelines.contains { $0[Self.stage(of: name)] != nil }
    }
    let stages = StageNames.split(names).map { name in
      !has(name) && has("export-" + name) ? "export-" + name : name
    }
    if let pipeline = pipelines.first(where: { pipeline in
      stages.allSatisfy { pipeline[Self.stage(of: $0)] != nil }
    }) {
      return (pipeline, stages)
    }
    // If some names are stages, the first that is none is reported.
    if let unknown = stages.first(where: { !has($0) }), stages.contains(where: has) {
      try pipelines[0].checkStage(unknown)
    }
    if stages.allSatisfy(has) {
      throw CommandFailure(
        ExitStatus.usage,
        "no built-in pipeline has all of \(StageWords.list(stages)); name a pipeline before them, "
          + "as in `scanmill list parameters exports \(stages.joined(separator: ","))`")
    }
    if let hint = BuiltInStages.hint(first) {
      throw CommandFailure(
        ExitStatus.badPipeline,
        "no pipeline or stage '\(first)': \(hint); `scanmill list stages \(first)` lists its parameters"
      )
    }
    if !first.contains("/"), !first.contains(".") {
      let names = pipelines.flatMap(\.stages).map(\.name) + PipelineFinder.offered
      throw CommandFailure(
        ExitStatus.usage,
        "no stage or pipeline '\(first)'"
          + NearestName.suggestion(first, among: Array(Set(names)).sorted()) + "; stages: "
          + pipelines[0].shownStages.joined(separator: ", ")
          + "; pipelines: " + PipelineFinder.offered.joined(separator: ", "))
    }
    return (try PipelineFinder.load(first), [])
  }
}
