import ArgumentParser
import Engine

/// `--export colmap,tum`: the formats of the stages in the pipeline `exports`.
enum ExportNames {
  private static let prefix = "export-"

  /// The stages named in `lists`. Throws for unknown names, with the nearest known one.
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
