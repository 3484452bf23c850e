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
}

extension StageRegistry {
  /// The stages that pipelines may use. A new one is entered here, a new format above.
  public static let shipped = StageRegistry(
    [
      DecodeColor.self, DecodeSecondColor.self, DecompressDepth.self, ExportImages.self,
      AlignDepth.self, AlignColor.self, MatchIMU.self, ExportTables.self, Preview.self,
      MakeThumbnail.self, MeasureQuality.self, MeasureTimeOffset.self, MakeMasks.self,
      ExternalCommand.self, JPEGPictures.self, GrayPictures.self,
    ] + ExportFormats.exports)
}
