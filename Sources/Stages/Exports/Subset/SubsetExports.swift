import Engine

/// Decides for which exports of some frames inner steps are made.
enum SubsetExports {
  /// Suffix of the inner stage that chooses an export's frames.
  static let framesSuffix = "." + PipelineDefinition.framesStep

  static let all: [any ExportStage.Type] = [
    ExportSens.self, ExportScanNet.self, ExportScanNetPP.self, ExportOpen3D.self, ExportTUM.self,
    ExportEuRoC.self, ExportKalibr.self, ExportSpectacular.self, ExportMCAP.self,
    ExportNerfstudio.self, ExportColmap.self, ExportPLY.self,
  ]
}

extension ExportStage {
  /// Whether a selection differs from what the format exports by default.
  public static func isSubset(_ parameters: ParameterValues) -> Bool {
    guard SubsetExports.all.contains(where: { $0 == self }) else { return false }
    let standard = ParameterValues(defaultsOf: Self.parameters)
    return ["every", "first", "last", "count"].contains { parameters[$0] != standard[$0] }
  }

  public static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)? {
    if let color, color.kind != DecodeColor.self { return nil }
    // What is picked does not depend on the export: it chooses among the picked pictures.
    if let color, PickParameters.way(color.parameters) != .every { return nil }
    return (
      ChooseFrames.self, ChooseFrames.values(of: self, parameters, color: color?.parameters)
    )
  }

  public static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)? {
    // Shifts are an output for people.
    stage.kind == DecompressDepth.self && !stage.parameters.flag("shifts") ? ChosenDepth.self : nil
  }
}
