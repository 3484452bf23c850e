import Captures
import Media
import Stages
import Engine
import SystemPackage

/// The families and stages of this executable; the only list of stages.
enum Toolbox {
  static let captures = CaptureRegistry.builtIn

  static let stages = StageRegistry(
    [
      DecodeColor.self, DecompressDepth.self, ExportImages.self, AlignDepth.self, AlignColor.self,
      ExportPLY.self, MatchIMU.self, ExportTables.self, Preview.self, MakeThumbnail.self,
      MeasureQuality.self, MeasureTimeOffset.self,
      ExternalCommand.self,
    ] + exports)

  /// Formats of other tools, and pictures that several of them share.
  private static let exports: [any Stage.Type] = [
    JPEGPictures.self, GrayPictures.self,
    ExportOpen3D.self,
    ExportEuRoC.self, ExportKalibr.self, ExportTUM.self,
    ExportGPX.self, ExportGeoJSON.self, ExportKML.self,
    ExportNerfstudio.self, ExportColmap.self,
    ExportMCAP.self,
    ExportSens.self, ExportScanNet.self, ExportScanNetPP.self,
    ExportSpectacular.self,
  ]

  /// Throws if FFmpeg's libraries are obviously missing, before work starts. A library that exists
  /// but cannot be loaded is reported when the first video is opened.
  static func checkLibraries() throws {
    guard let problem = FFmpegLibraries.obviousProblem else { return }
    throw CommandFailure(
      code: FailureTable.verdict(.ourselves, .noSuchFileOrDirectory).exit, text: problem)
  }
}
