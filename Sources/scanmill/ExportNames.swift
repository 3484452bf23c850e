import ArgumentParser
import Pipeline

/// `--export colmap,tum`: the stages of the pipeline `exports` under the names of their formats.
enum ExportNames {
  private static let prefix = "export-"

  /// The stages that `lists` name. Throws for a name that the pipeline does not have, with the nearest one.
  static func stages(_ lists: [String], in pipeline: PipelineDefinition) throws -> [String] {
    let known = pipeline.stages.map(\.name).filter { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
    let names = lists.flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    var stages: [String] = []
    for name in names {
      let short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
      guard known.contains(short) else {
        throw ValidationError(
          "no export '\(name)'" + NearestName.suggestion(short, among: known)
            + "; known: \(known.joined(separator: ", "))")
      }
      if !stages.contains(prefix + short) { stages.append(prefix + short) }
    }
    return stages
  }
}
