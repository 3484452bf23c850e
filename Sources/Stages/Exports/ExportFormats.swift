import Engine

/// The formats of other tools. A new one is entered here, and nowhere else in the program.
public enum ExportFormats {
  /// In the order in which they are listed.
  package static let kinds: [any ExportStage.Type] = [
    ExportPLY.self, ExportOpen3D.self, ExportEuRoC.self, ExportKalibr.self, ExportTUM.self,
    ExportGPX.self, ExportGeoJSON.self, ExportKML.self, ExportNerfstudio.self, ExportColmap.self,
    ExportMCAP.self, ExportSens.self, ExportScanNet.self, ExportScanNetPP.self,
    ExportSpectacular.self, ExportKITTI.self,
  ]

  package static let names = Set(kinds.map { $0.name })

  /// The stages that make them, and those of pictures that several of them share.
  public static let stages: [any Stage.Type] =
    [JPEGPictures.self, GrayPictures.self]
    + kinds.map { $0 as any Stage.Type }
}
