import Captures
import Codecs
import Exports
import Output
import Pipeline
import Runner
import Stages
import SystemPackage

/// The families and stages that this executable knows: the only place that lists the stages.
enum Toolbox {
  static let captures = CaptureRegistry.builtIn

  static let stages = StageRegistry(
    [
      DecodeColor.self, DecompressDepth.self, ExportImages.self, AlignDepth.self, AlignColor.self,
      ExportPLY.self, MatchIMU.self, ExportTables.self, Preview.self, MakeThumbnail.self,
      ExternalCommand.self,
    ] + exports)

  /// Layouts of other tools, and the pictures that several of them share.
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

  /// Throws where videos could not be decoded, before anything is begun. A library that is there and cannot
  /// be loaded shows when the first video is opened.
  static func checkLibraries() throws {
    guard let problem = FFmpegLibraries.obviousProblem else { return }
    throw Failure(
      code: FailureTable.verdict(.ourselves, .noSuchFileOrDirectory).exit, text: problem)
  }
}
