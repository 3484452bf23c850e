import SystemPackage

extension ARKitScanner {
  /// The color video, its pictures counted and none of them decoded.
  struct Video: Sendable {
    let name: String
    let path: FilePath
    let codec: String
    /// Position of the track in the container.
    let track: Int
    /// Pixels of the upright picture.
    let size: PictureSize
    let clockwiseQuarterTurns: Int
    /// Presentation ticks in display order.
    let ticks: [Int64]

    var pictureCount: Int { ticks.count }

    init(_ path: FilePath, name: String) throws(CaptureError) {
      throw CaptureError(file: path, problem: "todo")
    }
  }
}
