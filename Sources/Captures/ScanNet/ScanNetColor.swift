import Media
import SystemPackage

/// Reads the `.h264` file: a bare stream, whose pictures are counted without decoding.
enum ScanNetColor {
  /// Facts about a stream that are known without decoding.
  struct Facts: Sendable {
    var pictures: Int
    /// Width of the decoded pictures, pixels; `nil` when the stream's header does not state it.
    var width: Int?
    var height: Int?
    var clockwiseQuarterTurns: Int
    var order: PictureOrder
    var oddities: VideoOddities
    var color: VideoColor
  }

  /// Indexes the stream. Cost: one scan of the file for start codes.
  ///
  /// - Parameter statedCounts: picture counts in metadata and times.
  static func facts(of file: FilePath, statedCounts: Set<Int>) throws(CaptureError) -> Facts {
    let video = try CaptureVideo(file, container: .annexB, statedCounts: statedCounts)
    guard let track = video?.track, track.pictureCount > 0 else {
      throw CaptureError(
        file: file, record: 0, byteOffset: 0, problem: "no picture of a bare H.264 stream in it")
    }
    let (width, height) = (track.uprightWidth, track.uprightHeight)
    let isSizeKnown = width > 0 && height > 0
    return Facts(
      pictures: track.pictureCount, width: isSizeKnown ? width : nil,
      height: isSizeKnown ? height : nil,
      clockwiseQuarterTurns: track.orientation.clockwiseQuarterTurns, order: track.order,
      oddities: VideoOddities(track), color: track.color)
  }
}
