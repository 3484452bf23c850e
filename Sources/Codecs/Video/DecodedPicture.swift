import CFFmpeg

/// One decoded picture, in the form the decoder gave it: cheap to hand to another thread, which turns it
/// into RGB.
///
/// Holds a reference to memory of the decoder (1.5 bytes a pixel for most videos), given back with the
/// last copy.
public final class DecodedPicture: @unchecked Sendable {
  /// How many pictures came out before.
  public let ordinal: Int
  /// The picture's place among all that the track counts, in display order, from 0; `nil` for one that
  /// belongs to none of them.
  public let index: Int?
  public let orientation: VideoOrientation
  /// Parts of it are missing or made up, because the stream is damaged.
  public let isDamaged: Bool

  // Safe to share: nobody writes to the frame or its pixels after `init`, reference counts are atomic.
  let frame: UnsafeMutablePointer<AVFrame>

  /// Takes over the reference that `frame` holds; `nil` without memory.
  init?(
    moving frame: UnsafeMutablePointer<AVFrame>, ordinal: Int, index: Int?,
    orientation: VideoOrientation, isPatched: Bool = false
  ) {
    guard let own = av_frame_alloc() else { return nil }
    av_frame_move_ref(own, frame)
    self.frame = own
    self.ordinal = ordinal
    self.index = index
    self.orientation = orientation
    isDamaged =
      isPatched || own.pointee.decode_error_flags != 0
      || own.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
  }

  public var storedWidth: Int { Int(frame.pointee.width) }
  public var storedHeight: Int { Int(frame.pointee.height) }

  /// The size after the turn: that of the RGB picture.
  public var width: Int { orientation.swapsSides ? storedHeight : storedWidth }
  public var height: Int { orientation.swapsSides ? storedWidth : storedHeight }
}
