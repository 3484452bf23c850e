import Stages
import Engine

/// Stages from a capture's files to pictures, tables, aligned depth and one export.
public enum ToyStages {
  public static let registry = StageRegistry(
    [
      DecodeColor.self, DecompressDepth.self, ExportImages.self, AlignDepth.self, MatchIMU.self,
      ExportTables.self,
    ] + ExportFormats.exports.filter { $0.name == "export-sens" })

  public static let source = PipelineSource(
    name: "toy.yaml",
    text: """
      schema: 1
      stages:
        color: {uses: decode-color}
        depth-frames: {uses: decompress-depth, partOf: depth, keep: false}
        depth: {uses: export-images, with: {stream: depth}, needs: [depth-frames]}
        aligned: {uses: align-depth, needs: [depth-frames]}
        imu: {uses: match-imu}
        tables: {uses: export-tables, optional: [color, depth, aligned]}
        export-sens: {uses: export-sens, needs: [color, depth], with: {pictures: png}}

      """)
}
