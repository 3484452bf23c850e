import ArgumentParser
import Benchmarking
import Captures
import Core
import Engine
import Pages
import Stages
import SystemPackage

/// Shell completion for the values of options and arguments.
///
/// The generated script calls the program at each key press, except for lists, files and folders,
/// so names in a pipeline file are completed too. It responds within milliseconds, opens no
/// capture, and prints nothing on errors.
enum Completion {
  static let captures = CompletionKind.file()
  static let folder = CompletionKind.directory
  static let settingsFile = CompletionKind.file(extensions: ["yaml", "yml"])
  static let jsonFile = CompletionKind.file(extensions: ["json"])
  static let families = list(Toolbox.captures.families.map(\.rawValue))
  static let peers = list(Peer.allCases.map(\.rawValue))
  static let states = list(CaptureState.allCases.map(\.rawValue))
  static let qualities = list(CaptureQuality.Level.allCases.map(\.rawValue))
  static let warnings = CompletionKind.list(WarningCode.allCases.map(\.rawValue).sorted())

  /// A pipeline by name, or a file.
  static let pipeline = CompletionKind.custom { _, _, prefix in
    names(PipelineFinder.offered, prefix) + files(prefix, endings: [".yaml", ".yml"])
  }

  /// A stage of the pipeline that the command line names.
  static let stage = CompletionKind.custom { words, _, prefix in
    names(CommandWords(words).stages, prefix)
  }

  /// What `list` lists under the subject that the command line names.
  static let listed = CompletionKind.custom { words, _, prefix in
    switch words.lazy.compactMap(ListCommand.Subject.init).first {
    case .stages: listed(Toolbox.stages.stages.map { $0.name }, prefix)
    case .exports: listed(ExportFormats.exports.map { ExportNames.short($0.name) }, prefix)
    case .families: listed(Toolbox.captures.families.map(\.rawValue), prefix)
    case .codes: listed(CodeReference.entries.map(\.code), prefix)
    case .pipelines: listed(PipelineFinder.offered, prefix)
    case .quality: listed(QualityPurpose.shipped.map(\.name), prefix)
    case .parameters, nil:
      names(PipelineFinder.offered, prefix) + listed(CommandWords(words).stages, prefix)
        + files(prefix, endings: [".yaml", ".yml"])
    }
  }

  /// Stages of that pipeline, separated by commas.
  static let stages = CompletionKind.custom { words, _, prefix in
    listed(CommandWords(words).stages, prefix)
  }

  /// `stage.parameter=` for the pipeline that the command line names.
  static let setting = CompletionKind.custom { words, _, prefix in
    names(CommandWords(words).parameters.map { $0 + "=" }, prefix)
  }

  /// Formats of the pipeline `exports`, separated by commas.
  static let exports = CompletionKind.custom { _, _, prefix in
    let known = CommandWords(["--pipeline", "exports"]).stages.filter { $0.hasPrefix("export-") }
    return listed(known.map { String($0.dropFirst("export-".count)) }, prefix)
  }

  /// Codes, and files, because the argument may be a capture too.
  static let captureOrCode = CompletionKind.custom { _, _, prefix in
    names(CodeReference.entries.map(\.code), prefix) + files(prefix, endings: [""])
  }

  /// Values separated by commas, of which the last is completed.
  private static func list(_ known: [String]) -> CompletionKind {
    .custom { _, _, prefix in listed(known, prefix) }
  }

  private static func listed(_ known: [String], _ prefix: String) -> [String] {
    let words = prefix.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let given = words.dropLast()
    let before = given.map { $0 + "," }.joined()
    return names(known.filter { !given.contains($0) }.map { before + $0 }, prefix)
  }

  private static func names(_ known: [String], _ prefix: String) -> [String] {
    known.filter { $0.hasPrefix(prefix) }
  }

  /// Folders, and files with one of the endings, whose paths begin with `prefix`.
  private static func files(_ prefix: String, endings: [String]) -> [String] {
    let parts = prefix.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let folder = parts.dropLast().map { $0 + "/" }.joined()
    let start = parts.last ?? ""
    let path = FilePath(text: folder.isEmpty ? "." : folder)
    guard let entries = try? FileSystem.names(in: path) else { return [] }
    return entries.filter { $0.hasPrefix(start) && (!$0.hasPrefix(".") || start.hasPrefix(".")) }
      .compactMap { name in
        if FileSystem.isFolder(path.appending(name: name)) { return folder + name + "/" }
        return endings.contains { name.hasSuffix($0) } ? folder + name : nil
      }
  }
}

/// An incomplete command line, for shell completion.
struct CommandWords {
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// The value of `--pipeline`, or the default of `run`.
  var pipelineName: String {
    for (index, word) in words.enumerated() {
      if word == "--pipeline", index + 1 < words.count { return words[index + 1] }
      if word.hasPrefix("--pipeline=") { return String(word.dropFirst("--pipeline=".count)) }
    }
    return words.contains("--export") ? "exports" : "default"
  }

  /// Selectable stages; inner steps belong to the stage that they are part of.
  var stages: [String] { pipeline?.shownStages ?? [] }

  /// The names that `--set` accepts.
  var parameters: [String] { pipeline.map { ParameterHelp($0).shownNames } ?? [] }

  private var pipeline: PipelineDefinition? { try? PipelineFinder.load(pipelineName) }
}
