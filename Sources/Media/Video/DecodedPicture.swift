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
