import Engine
import Stages

/// Stages from a capture's file to pictures of depth.
public enum ToyStages {
  public static let registry = StageRegistry([DecompressDepth.self, ExportImages.self])

  public static let source = PipelineSource(
    name: "toy.yaml",
    text: """
      schema: 1
      stages:
        depth-frames: {uses: decompress-depth, partOf: depth, keep: false}
        depth: {uses: export-images, with: {stream: depth}, needs: [depth-frames]}

      """)
}
