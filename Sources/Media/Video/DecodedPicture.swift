import CFFmpeg
import Core

/// One decoded picture in the decoder's own format: cheap to pass to another thread, which converts
/// it to RGB.
///
/// Holds a reference to memory of the decoder (1.5 bytes per pixel for most videos), which is
/// released with the last copy.
public final class DecodedPicture: @unchecked Sendable {
  /// Number of pictures that were output before.
  public let outputIndex: Int
  /// The picture's display index: its position in display order among all pictures that the track
  /// counts, from 0; `nil` for one that is not counted.
  public let displayIndex: Int?
  let orientation: VideoOrientation
  /// Whether parts of it are missing or concealed because the stream is damaged.
  public let isDamaged: Bool

  // Safe to share: the frame and its pixels do not change after `init`, and reference counts are
  // atomic.
  let frame: UnsafeMutablePointer<AVFrame>

  /// Takes ownership of the reference in `frame`; `nil` when out of memory.
  init?(
    moving frame: UnsafeMutablePointer<AVFrame>, outputIndex: Int, displayIndex: Int?,
    orientation: VideoOrientation, isPatched: Bool = false
  ) {
    guard let own = av_frame_alloc() else { return nil }
    av_frame_move_ref(own, frame)
    self.frame = own
    self.outputIndex = outputIndex
    self.displayIndex = displayIndex
    self.orientation = orientation
    isDamaged =
      isPatched || own.pointee.decode_error_flags != 0
      || own.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
  }

  var storedWidth: Int { Int(frame.pointee.width) }
  var storedHeight: Int { Int(frame.pointee.height) }

  /// Width after the turn, as in the RGB picture.
  public var width: Int { orientation.swapsSides ? storedHeight : storedWidth }
  public var height: Int { orientation.swapsSides ? storedWidth : storedHeight }
}

extension DecodedPicture {
  /// Writes the brightness of the picture as 8 bits per pixel to `gray`, row by row, as it is stored:
  /// not turned, and with the range of the video. Deeper samples lose their low bits.
  ///
  /// - Returns: `storedWidth` and `storedHeight`, which `gray` then has; `nil` for formats without a
  ///   plane of brightness in the order of this machine's bytes (RGB, palettes), whose RGB must be
  ///   looked at.
  ///
  /// Cost: one copy of the plane, much less than a conversion to RGB.
  public func luma(into gray: inout [UInt8]) -> (width: Int, height: Int)? {
    let (width, height) = (storedWidth, storedHeight)
    guard width > 0, height > 0, let plane = frame.pointee.data.0,
      let format = av_pix_fmt_desc_get(AVPixelFormat(rawValue: frame.pointee.format))
    else { return nil }
    let refused =
      AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM
      | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_FLOAT
    let luma = format.pointee.comp.0
    guard format.pointee.flags & UInt64(refused) == 0, luma.plane == 0, luma.offset == 0 else {
      return nil
    }
    let (stride, depth) = (Int(frame.pointee.linesize.0), Int(luma.depth))
    let bytes = UnsafeRawPointer(plane)
    switch (luma.step, depth) {
    case (1, 8):
      guard stride >= width else { return nil }
      gray.resize(to: width * height)
      gray.withUnsafeMutableBytes { gray in
        for row in 0..<height {
          UnsafeMutableRawBufferPointer(rebasing: gray[row * width..<(row + 1) * width]).copyMemory(
            from: UnsafeRawBufferPointer(start: bytes + row * stride, count: width))
        }
      }
    case (2, 9...16):
      guard stride >= 2 * width else { return nil }
      gray.resize(to: width * height)
      let shift = UInt16(depth - 8 + Int(luma.shift))
      gray.withUnsafeMutableBufferPointer { gray in
        for row in 0..<height {
          let samples = bytes + row * stride
          for column in 0..<width {
            gray[row &* width &+ column] = UInt8(
              truncatingIfNeeded: samples.loadUnaligned(
                fromByteOffset: 2 &* column, as: UInt16.self) &>> shift)
          }
        }
      }
    default: return nil
    }
    return (width, height)
  }
}

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
    // The rotation that remains when the mirroring is removed.
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
      clockwiseQuarterTurns: Int(turns).withinFullTurn, isMirrored: determinant < 0,
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
