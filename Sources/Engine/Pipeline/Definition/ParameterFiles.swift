import Core
import SystemPackage
import Yams

/// Checks before anything starts that files and folders exist that parameters name, and that no parameter is set that
/// has no effect beside the others. A wrong path would otherwise be found after other work is done, or be taken for a
/// capture without anything to align.
extension PipelineSource {
  /// Throws `SettingError` for a path from the command line and `PipelineError` for one in the
  /// pipeline file.
  ///
  /// - Parameter definition: the definition made from this source.
  public func checkFiles(_ definition: PipelineDefinition) throws {
    var diagnostics = DiagnosticList(file: name, text: text)
    for stage in definition.stages {
      let outer = stage.partOf.flatMap { definition[$0] }
      let idle = stage.kind.parameters.compactMap { parameter in
        definition.nothingTaken(by: parameter, in: stage)
          ?? parameter.problem(in: stage, outer).flatMap {
            definition.hasEffect(parameter, besides: stage) ? nil : $0
          }
      }
      for problem in idle + stage.kind.fileProblems(stage.parameters) {
        let owner = stage.partOf ?? stage.name
        let parameter = problem.parameter ?? ""
        let setting = settings.last {
          PipelineReader.description(of: $0.parameter, in: $0.stage, taker: stage)?.name
            == parameter
        }
        if let setting {
          throw SettingError(
            description: "\(setting.stage).\(setting.parameter): \(problem.message)")
        }
        let shared = stage.kind.parameters.first { $0.name == parameter }?.sharedName
        diagnostics.add(
          mark(of: parameter, in: [stage.name, owner])
            ?? shared.flatMap { mark(of: $0.parameter, in: [$0.stage]) },
          "\(parameter): \(problem.message)")
      }
    }
    if !diagnostics.all.isEmpty { throw PipelineError(diagnostics: diagnostics.all) }
  }

  /// Position of a parameter's value in the file.
  private func mark(of parameter: String, in stages: [String]) -> Mark? {
    guard let root = try? Yams.compose(yaml: text, .basic) else { return nil }
    return stages.lazy.compactMap { root["stages"]?[$0]?["with"]?[parameter]?.mark }.first
  }
}

extension PipelineDefinition {
  /// What is missing for an effect of a parameter that takes something through a port; `nil`: nothing.
  fileprivate func nothingTaken(
    by parameter: ParameterDescription, in stage: StageDefinition
  ) -> StageProblem? {
    guard let port = parameter.port, stage.parameters[parameter.name] != parameter.standard else {
      return nil
    }
    guard let input = stage.inputs.first(where: { $0.port == port }),
      let source = self[input.stage]
    else {
      return StageProblem(
        parameter: parameter.name, "has no effect: no stage is connected to '\(port)'")
    }
    return source.kind.nothingToDo(source).map {
      StageProblem(parameter: parameter.name, "has no effect: '\(source.name)' has \($0)")
    }
  }

  /// Whether a parameter that is set for several stages at once has an effect in another one than `stage`.
  fileprivate func hasEffect(
    _ parameter: ParameterDescription, besides stage: StageDefinition
  ) -> Bool {
    guard parameter.sharedName != nil else { return false }
    return stages.contains { other in
      other.name != stage.name
        && other.parameters[parameter.name] == stage.parameters[parameter.name]
        && other.kind.parameters.contains {
          $0.sharedName == parameter.sharedName
            && $0.problem(in: other, other.partOf.flatMap { self[$0] }) == nil
        }
    }
  }
}

extension StageProblem {
  /// The problem with a file that a parameter names; `nil` if it exists and can be read.
  public static func ofFile(_ path: String, parameter: String) -> StageProblem? {
    if FileSystem.isFolder(FilePath(path)) {
      return StageProblem(parameter: parameter, "\(path): is a folder; name a file")
    }
    do throws(FileError) {
      _ = try MappedFile(FilePath(path))
      return nil
    } catch {
      return StageProblem(parameter: parameter, "\(error)")
    }
  }

  /// The problem with a folder that a parameter names.
  static func ofFolder(_ path: String, parameter: String) -> StageProblem? {
    guard FileSystem.isFolder(FilePath(path)) else {
      let what = FileSystem.exists(FilePath(path)) ? "is a file; name a folder" : "no such folder"
      return StageProblem(parameter: parameter, "\(path): \(what)")
    }
    do throws(FileError) {
      _ = try FileSystem.names(in: FilePath(path))
      return nil
    } catch {
      return StageProblem(parameter: parameter, "\(error)")
    }
  }
}

extension Stage {
  /// Checks that all files and folders that parameters name exist and can be read.
  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    pathProblems(parameters)
  }

  /// Problems with paths, for stages that check more.
  public static func pathProblems(_ parameters: ParameterValues) -> [StageProblem] {
    self.parameters.compactMap { description in
      guard case .text(let path)? = parameters[description.name] else { return nil }
      switch description.kind {
      case .file: return StageProblem.ofFile(path, parameter: description.name)
      case .folder: return StageProblem.ofFolder(path, parameter: description.name)
      case .flag, .integer, .number, .choice, .duration, .durationOrAuto, .length, .lengthRange,
        .text, .spelled, .list:
        return nil
      }
    }
  }
}
