import Core
import SystemPackage

extension ArtifactRecord {
  /// The schema that this program writes and understands.
  static let knownSchema = 1

  /// Recorded if a stage legitimately wrote no files, to distinguish that from an emptied list.
  static let noOutputs = "noOutputs"

  /// Why the record of the artifact in the folder of `stage` is not consistent; `nil` if it is.
  /// Cost: a digest over the list of outputs.
  public func problem(of stage: String) -> String? {
    if schema != Self.knownSchema { return "schema \(schema) is not known" }
    if self.stage != stage { return "it is about the stage '\(self.stage)'" }
    if outputs.isEmpty, recorded[Self.noOutputs] != .bool(true) { return "it lists no outputs" }
    if frames < 0 || outputs.contains(where: { $0.bytes < 0 }) { return "it has negative numbers" }
    if let odd = outputs.first(where: { !Self.isInside($0.path) }) {
      return "its output '\(odd.path)' leads out of the artifact"
    }
    if Set(outputs.map(\.path)).count != outputs.count { return "it lists an output twice" }
    if outputDigest != outputs.digest { return "its outputDigest does not match its outputs" }
    return nil
  }

  private static func isInside(_ path: String) -> Bool {
    let relative = FilePath(path)
    return relative.isRelative && !relative.components.isEmpty
      && relative.components.allSatisfy { $0.kind == .regular } && path != fileName
      && !path.utf8.contains(0)
  }
}
