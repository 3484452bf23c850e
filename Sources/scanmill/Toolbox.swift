import Captures
import Pipeline
import Stages

/// The families and stages that this executable knows: the only place that lists them.
enum Toolbox {
  static let captures = CaptureRegistry([
    ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
    StraboReader.self,
  ])

  static let stages = StageRegistry([
    DecodeColor.self, DecompressDepth.self, ExportImages.self, AlignDepth.self, AlignColor.self,
    PointCloudExport.self, MatchIMU.self, ExportTables.self, Preview.self, MakeThumbnail.self,
    ExternalCommand.self,
  ])
}
