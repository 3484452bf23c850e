import ArgumentParser
import Core
import Engine
import Stages
import SystemPackage

/// Finds the pipeline that a user names: a file or a built-in pipeline.
enum PipelineFinder {
  /// Names of the built-in pipelines.
  static let builtIn = [
    "default", "preview", "point-cloud", "exports", "quality", "time-offset", "mesh",
    "preview-video", "faces", benchmark,
  ]

  /// The default pipeline of `bench`.
  static let benchmark = "benchmark"

  /// Those that people are told of.
  static let offered = builtIn.filter { $0 != benchmark }

  /// What names another pipeline of an earlier version now.
  private static let gone = [
    "color-only": "--only color,tables", "depth-only": "--only depth,confidence,aligned,tables",
    "vi-slam": "--only color,imu,tables,thumbnail",
  ]

  static func load(_ nameOrFile: String) throws -> PipelineDefinition {
    try source(nameOrFile).definition(Toolbox.stages)
  }

  /// The pipeline with all formats. Formats that do not apply to a capture are skipped without a
  /// message.
  static let allExports = "exports"

  /// The text of the named pipeline, with settings of the command line (`STAGE.PARAM=VALUE`).
  /// Settings in another form are ignored here, because option parsing rejects them.
  ///
  /// - Parameter exports: stages of the pipeline `exports`, in addition.
  static func source(
    _ nameOrFile: String, adding exports: [String] = [], settings: [String] = []
  ) throws -> PipelineSource {
    let settings = settings.compactMap(ParameterSetting.init)
    let addition =
      exports.isEmpty
      ? nil : PipelineSource.Addition(text: text(ofBuiltIn: allExports), stages: exports)
    if builtIn.contains(nameOrFile) {
      return PipelineSource(
        name: "\(nameOrFile).yaml", text: text(ofBuiltIn: nameOrFile), settings: settings,
        addition: addition
      ).naming(formatsOf: nameOrFile == allExports ? .settings : .settingsAndStages)
    }
    guard let file = try? InputFile(FilePath(text: nameOrFile)) else {
      throw CommandFailure(
        ExitStatus.badPipeline,
        "no pipeline '\(nameOrFile)': neither a pipeline file nor one of "
          + offered.joined(separator: ", ")
          + (gone[nameOrFile].map { "; it is gone: use \($0)" }
            ?? NearestName.suggestion(nameOrFile, among: builtIn)))
    }
    do {
      let bytes = try file.whole(limit: InputLimits.bytesOfSettings)
      return PipelineSource(
        name: nameOrFile, text: String(decoding: bytes, as: UTF8.self), settings: settings,
        addition: addition
      ).naming(formatsOf: .settingsAndStages)
    } catch {
      throw CommandFailure(ExitStatus.badPipeline, error.description)
    }
  }

  /// The pipeline as a run asks for it. Settings of stages that it lacks count for captures that are asked for these by
  /// other runs.
  ///
  /// - Parameter mayExport: whether the verb has `--export`.
  static func source(
    _ nameOrFile: String, adding exports: [String] = [], settings: [String],
    ofOutput output: FilePath, mayExport: Bool = false
  ) throws -> PipelineSource {
    let own = try load(nameOrFile)
    var settings = settings
    var others: [ParameterSetting] = []
    for text in settings {
      guard let setting = ParameterSetting(text), own[setting.stage] == nil,
        !exports.contains(setting.stage)
      else { continue }
      if try Requests.take(setting, ofOutput: output, Toolbox.stages) {
        settings.removeAll { $0 == text }
        others.append(setting)
      } else if setting.stage.hasPrefix(ExportNames.prefix) {
        _ = try ExportNames.stages([setting.stage], in: load(allExports))
        let how =
          mayExport ? "--export \(ExportNames.short(setting.stage))" : "--pipeline exports"
        throw ValidationError(
          "--set \(text): the pipeline has no stage '\(setting.stage)', and nothing in the output was asked for it; add \(how)"
        )
      }
    }
    var source = try Self.source(nameOrFile, adding: exports, settings: settings)
    if !others.isEmpty { source.settingsOfOthers = others }
    return source
  }

  static func text(ofBuiltIn name: String) -> String {
    let bytes: [UInt8]
    switch name {
    case "point-cloud": bytes = PackageResources.point_cloud_yaml
    case "preview": bytes = PackageResources.preview_yaml
    case "exports": bytes = PackageResources.exports_yaml
    case "time-offset": bytes = PackageResources.time_offset_yaml
    case "quality": bytes = PackageResources.quality_yaml
    case "mesh": bytes = PackageResources.mesh_yaml
    case "preview-video": bytes = PackageResources.preview_video_yaml
    case "faces": bytes = PackageResources.faces_yaml
    case "benchmark": bytes = PackageResources.benchmark_yaml
    default: bytes = PackageResources.default_yaml
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Marks formats and stages that were requested. If these cannot be created, a message says why.
extension PipelineSource {
  /// The places that name formats.
  enum FormatNaming {
    /// Only settings of the command line, because the pipeline lists all formats.
    case settings
    /// The pipeline too: a format that it lists is wanted.
    case settingsAndStages
  }

  /// This source, requesting the formats that it names. A pipeline that cannot be read names none;
  /// reading it later reports the error.
  func naming(formatsOf naming: FormatNaming) -> PipelineSource {
    guard let definition = try? definition(Toolbox.stages) else { return self }
    let formats = Set(
      definition.stages.filter { ExportFormats.names.contains($0.kind.name) }.map(\.name))
    var source = adding(named: Array(formats.intersection(settings.map(\.stage))))
    if naming == .settingsAndStages, !formats.isEmpty { source.listed = formats.sorted() }
    return source
  }

  /// This source, also requesting `stages`.
  func adding(named stages: [String]) -> PipelineSource {
    guard !stages.isEmpty else { return self }
    var source = self
    source.named = Set((named ?? []) + stages).sorted()
    return source
  }
}
