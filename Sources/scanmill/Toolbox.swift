import Captures
import Pipeline
import Stages

/// The families and stages that this executable knows: the only place that lists them.
enum Toolbox {
  static let captures = CaptureRegistry([])

  static let stages = StageRegistry([
    DecompressDepth.self, ExportImages.self, MatchIMU.self, ExportTables.self,
  ])
}
