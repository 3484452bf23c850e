import CFFmpeg

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
      fit(&gray, width * height)
      gray.withUnsafeMutableBytes { gray in
        for row in 0..<height {
          UnsafeMutableRawBufferPointer(rebasing: gray[row * width..<(row + 1) * width]).copyMemory(
            from: UnsafeRawBufferPointer(start: bytes + row * stride, count: width))
        }
      }
    case (2, 9...16):
      guard stride >= 2 * width else { return nil }
      fit(&gray, width * height)
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

  private func fit(_ gray: inout [UInt8], _ count: Int) {
    if gray.count != count { gray = [UInt8](repeating: 0, count: count) }
  }
}
