import Core
import Media

/// Converts intrinsics from the picture size that the app states to the size of the existing
/// pictures.
///
/// Sizes are those of stored pictures, before any turn.
struct ColorFit: Sendable {
  private let stated: Size?
  private let stored: Size?
  /// Why no intrinsics apply to the pictures; `nil` if they do.
  let obstacle: String?

  private struct Size: Equatable {
    var width: Int
    var height: Int
  }

  /// - Parameters:
  ///   - stated: the size in the metadata; if it equals the upright size of turned pictures, it
  ///     refers to that.
  ///   - track: the video, if its size is known.
  init(stated: (width: Int, height: Int)?, _ track: VideoTrack?) {
    self.init(
      stated: stated, stored: track.map { ($0.storedWidth, $0.storedHeight) },
      swapsSides: track?.orientation.swapsSides ?? false,
      isMirrored: track?.orientation.isMirrored ?? false)
  }

  init(
    stated: (width: Int, height: Int)?, stored: (width: Int, height: Int)?,
    swapsSides: Bool = false, isMirrored: Bool = false
  ) {
    let there = stored.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
    let pictures = there.map { Size(width: $0.width, height: $0.height) }
    var claim = stated.map { Size(width: $0.width, height: $0.height) }
    if swapsSides, let size = claim, let pictures, size.width == pictures.height,
      size.height == pictures.width
    {
      claim = pictures
    }
    self.stated = claim
    self.stored = pictures
    if isMirrored {
      obstacle = mirrorReason
    } else if let claim, let pictures,
      PinholeCamera(
        width: claim.width, height: claim.height, fx: 1, fy: 1, cx: 0, cy: 0
      ).fitted(toWidth: pictures.width, height: pictures.height) == nil
    {
      obstacle =
        "size-mismatch: they belong to pictures of \(claim.width)x\(claim.height), the video has "
        + "\(pictures.width)x\(pictures.height), which has another aspect ratio"
    } else {
      obstacle = nil
    }
  }

  /// Whether the pictures have another size than stated.
  var isMismatch: Bool {
    if let stated, let stored { stated != stored } else { false }
  }

  /// Warns of problems.
  func report(to warnings: WarningCollector) {
    if isMismatch, let stated, let stored {
      let consequence = obstacle == nil ? "intrinsics are rescaled" : "intrinsics do not apply"
      warnings.add(
        .sizeMismatch, "color",
        "the metadata says \(stated.width)x\(stated.height), the pictures have "
          + "\(stored.width)x\(stored.height): \(consequence)")
    }
  }

  /// The camera with the stated intrinsics for the existing pictures: rescaled by the half-pixel
  /// rule if the sizes differ. `nil` if no size is known. Must not be called if there is an
  /// obstacle.
  func camera(fx: Double, fy: Double, cx: Double, cy: Double) -> PinholeCamera? {
    guard let own = stated ?? stored else { return nil }
    let camera = PinholeCamera(
      width: own.width, height: own.height, fx: fx, fy: fy, cx: cx, cy: cy)
    guard let stored else { return camera }
    return camera.fitted(toWidth: stored.width, height: stored.height)
  }
}

/// Unusual properties of a video's pictures, which every family reports the same way.
struct VideoOddities: Sendable {
  let pictures: Int
  /// Number of steps at which the container's time goes back.
  let backwardSteps: Int
  /// Number of pictures of another size than the first.
  let picturesOfOtherSize: Int
  /// The transfer function, if ordinary screens do not expect it.
  var unusualTransfer: String?
  /// The primaries, if the transfer is an ordinary one and they are wider than those of ordinary
  /// screens.
  var widePrimaries: String?

  /// Adds warnings.
  /// - Parameter fit: the size that the app states, if any. If the size changes within the video,
  ///   its warning counts the pictures concerned and also covers a difference from the stated size.
  func report(to warnings: WarningCollector, beside fit: ColorFit? = nil) {
    warnings.add(
      .timestampsUnordered, "color", count: backwardSteps, of: .size(pictures),
      "times in the video that go backward; pictures stay in the order in which they are decoded")
    warnings.add(
      .sizeMismatch, "color", count: picturesOfOtherSize,
      "the size changes within the video: pictures of another size than the first keep their own")
    if let unusualTransfer {
      warnings.add(
        .hdrVideo, "color",
        "the video's transfer is \(unusualTransfer): its pictures are written as the ffmpeg program gives "
          + "them, without conversion, and look washed out on an ordinary screen")
    }
    if let widePrimaries {
      warnings.add(
        .hdrVideo, "color",
        "the video's primaries are \(widePrimaries): its pictures are written as the ffmpeg program gives "
          + "them, without conversion, and look dull on an ordinary screen; color.hdr=sdr converts them"
      )
    }
    if picturesOfOtherSize == 0 { fit?.report(to: warnings) }
  }
}

extension VideoOddities {
  init(_ track: VideoTrack) {
    self.init(
      pictures: track.pictureCount, backwardSteps: track.backwardSteps,
      picturesOfOtherSize: track.picturesOfOtherSize,
      unusualTransfer: track.color.isUnusualTransfer ? track.color.transfer : nil,
      widePrimaries: track.color.isUnusualTransfer || !track.color.hasWidePrimaries
        ? nil : track.color.primaries)
  }
}

/// Why the pose of a mirrored video's camera is undefined; `nil` for other videos.
func mirrorObstacle(_ track: VideoTrack?) -> String? {
  guard let track, track.orientation.isMirrored else { return nil }
  return mirrorReason
}

let mirrorReason = "the video's display matrix mirrors its pictures: no camera takes such pictures"
