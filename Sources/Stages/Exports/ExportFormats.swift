import Engine

/// The formats of other tools. A new one is entered here, and nowhere else in the program.
public enum ExportFormats {
  /// In the order in which they are listed.
  static let kinds: [any ExportStage.Type] = [
    ExportPLY.self, ExportOpen3D.self, ExportEuRoC.self, ExportKalibr.self, ExportTUM.self,
    ExportGPX.self, ExportGeoJSON.self, ExportKML.self, ExportNerfstudio.self, ExportColmap.self,
    ExportMCAP.self, ExportSens.self, ExportScanNet.self, ExportScanNetPP.self,
    ExportSpectacular.self, ExportKITTI.self,
  ]

  package static let names = Set(kinds.map { $0.name })

  /// The stages that make them. A conversion of the whole array looks up every type's conformance at run time, which
  /// takes milliseconds.
  public static let exports = kinds.map { kind -> any Stage.Type in kind }

  /// These, and the stages of pictures that several of them share.
  public static let stages: [any Stage.Type] = [JPEGPictures.self, GrayPictures.self] + exports
}
