import Codecs
import Geometry

/// Brings intrinsics that belong to the picture size that the app states to the pictures that are there.
///
/// Sizes are those of stored pictures, before any turn.
struct ColorFit: Sendable {
  private let stated: Size?
  private let stored: Size?
  /// Why no intrinsics hold for the pictures; `nil` where they do.
  let obstacle: String?

  private struct Size: Equatable {
    var width: Int
    var height: Int
  }

  /// - Parameters:
  ///   - stated: in the metadata; one that equals the upright size of turned pictures is theirs.
  ///   - track: the video, if there is one whose size is known.
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

  /// What is wrong, if anything is.
  func report(to warnings: WarningCollector) {
    if isMismatch, let stated, let stored {
      let consequence = obstacle == nil ? "intrinsics are rescaled" : "intrinsics do not apply"
      warnings.add(
        .sizeMismatch, "color",
        "the metadata says \(stated.width)x\(stated.height), the pictures have "
          + "\(stored.width)x\(stored.height): \(consequence)")
    }
  }

  /// The camera whose numbers were stated, on the pictures that are there: rescaled by the half-pixel rule
  /// where the sizes differ. `nil` where no size is known; not to be asked where there is an obstacle.
  func camera(fx: Double, fy: Double, cx: Double, cy: Double) -> PinholeCamera? {
    guard let own = stated ?? stored else { return nil }
    let camera = PinholeCamera(
      width: own.width, height: own.height, fx: fx, fy: fy, cx: cx, cy: cy)
    guard let stored else { return camera }
    return camera.fitted(toWidth: stored.width, height: stored.height)
  }
}
