import Storage
import SystemPackage
import Yams

/// Files and folders that parameters name: looked at before anything starts, because a wrong path would
/// be met only when work has been done, or be taken for a capture that has nothing to align.
extension PipelineSource {
  /// Throws `SettingError` for a path from the command line and `PipelineError` for one that stands in the
  /// pipeline file.
  ///
  /// - Parameter definition: what this source gives.
  public func checkFiles(_ definition: PipelineDefinition) throws {
    var diagnostics = DiagnosticList(file: name, text: text)
    for stage in definition.stages {
      for problem in stage.kind.fileProblems(stage.parameters) {
        let owner = stage.partOf ?? stage.name
        let parameter = problem.parameter ?? ""
        let setting = settings.last {
          $0.parameter == parameter && [stage.name, owner].contains($0.stage)
        }
        if let setting {
          throw SettingError(
            description: "\(setting.stage).\(setting.parameter): \(problem.message)")
        }
        diagnostics.add(
          mark(of: parameter, in: [stage.name, owner]),
          "\(parameter): \(problem.message)")
      }
    }
    if !diagnostics.all.isEmpty { throw PipelineError(diagnostics: diagnostics.all) }
  }

  /// Where the value of a parameter stands.
  private func mark(of parameter: String, in stages: [String]) -> Mark? {
    guard let root = try? Yams.compose(yaml: text) else { return nil }
    return stages.lazy.compactMap { root["stages"]?[$0]?["with"]?[parameter]?.mark }.first
  }
}

extension StageProblem {
  /// What is wrong with a file that a parameter names; `nil`: it is there and can be read.
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

  /// What is wrong with a folder that a parameter names.
  public static func ofFolder(_ path: String, parameter: String) -> StageProblem? {
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
  /// Every parameter that is a file or a folder is there and can be read.
  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    pathProblems(parameters)
  }

  /// The same, for stages that look closer.
  public static func pathProblems(_ parameters: ParameterValues) -> [StageProblem] {
    self.parameters.compactMap { description in
      guard let path = parameters.text(description.name) else { return nil }
      switch description.kind {
      case .file: return StageProblem.ofFile(path, parameter: description.name)
      case .folder: return StageProblem.ofFolder(path, parameter: description.name)
      case .flag, .integer, .number, .choice, .duration, .length, .lengthRange, .text, .list:
        return nil
      }
    }
  }
}
