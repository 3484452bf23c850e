import CFFmpeg

/// How stored pictures must be mirrored and turned to be upright, by the display matrix of a track
/// (including that of the movie).
public struct VideoOrientation: Hashable, Sendable {
  /// Clockwise quarter turns, 0…3, applied after `isMirrored`.
  public var clockwiseQuarterTurns: Int
  /// Whether left and right are exchanged before the turn.
  public var isMirrored: Bool
  /// Whether the matrix is not a multiple of 90°, mirrored or not: pictures stay as stored.
  public var isIgnored: Bool

  /// Pictures that are stored upright.
  static let upright = VideoOrientation(clockwiseQuarterTurns: 0, isIgnored: false)

  /// Whether the turn exchanges width and height.
  public var swapsSides: Bool { clockwiseQuarterTurns % 2 == 1 }

  /// The turn of a display matrix of nine 16.16 values, rounded to degrees, by its 2x2 part alone.
  init(matrix: UnsafePointer<Int32>) {
    let determinant = Double(matrix[0]) * Double(matrix[4]) - Double(matrix[1]) * Double(matrix[3])
    // What remains after removing the exchange of left and right.
    var turn = Array(UnsafeBufferPointer(start: matrix, count: 9))
    if determinant < 0 {
      turn[0] = 0 &- turn[0]
      turn[1] = 0 &- turn[1]
    }
    // The library counts counterclockwise; NaN for a matrix that is no rotation.
    let angle = -av_display_rotation_get(turn).rounded()
    let turns = (angle / 90).rounded()
    guard angle.isFinite, determinant != 0, angle == turns * 90 else {
      self.init(clockwiseQuarterTurns: 0, isIgnored: true)
      return
    }
    self.init(
      clockwiseQuarterTurns: ((Int(turns) % 4) + 4) % 4, isMirrored: determinant < 0,
      isIgnored: false)
  }

  public init(clockwiseQuarterTurns: Int, isMirrored: Bool = false, isIgnored: Bool) {
    self.clockwiseQuarterTurns = clockwiseQuarterTurns
    self.isMirrored = isMirrored
    self.isIgnored = isIgnored
  }

  /// The turn in a stream's side data.
  init(of stream: UnsafePointer<AVStream>) {
    var size = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size),
      size >= 9 * MemoryLayout<Int32>.size
    else {
      self = .upright
      return
    }
    // The library allocates side data aligned for any type.
    self = UnsafeRawPointer(data).withMemoryRebound(to: Int32.self, capacity: 9) {
      VideoOrientation(matrix: $0)
    }
  }
}
