import Core
import Processing

/// Aligns single depth frames to the color camera for previews, on the coarsest grid that is fine
/// enough.
struct FrameAligner {
  private let aligner: DepthAligner
  private var scratch = AlignmentScratch()

  /// - Parameter width: width of the displayed picture.
  init(_ cameras: CaptureCameras, width: Int) throws(AlignmentError) {
    let columns = cameras.colorSize.map {
      cameras.clockwiseQuarterTurns % 2 == 0 ? $0.width : $0.height
    }
    let grid: AlignmentParameters.Grid =
      switch columns ?? 0 {
      case (4 * width)...: .quarterColor
      case (2 * width)...: .halfColor
      default: .color
      }
    aligner = try DepthAligner(
      calibration: cameras.calibration, parameters: AlignmentParameters(grid: grid),
      depthSize: cameras.depthSize, colorSize: cameras.colorSize,
      clockwiseQuarterTurns: cameras.clockwiseQuarterTurns)
  }

  mutating func align(_ depth: DepthImage) throws(AlignmentError) -> DepthImage {
    var pixels: [UInt16] = []
    try aligner.align(depth.millimeters, scratch: &scratch, into: &pixels)
    let grid = aligner.outputIntrinsics
    return DepthImage(width: grid.width, height: grid.height, millimeters: pixels)
  }
}
