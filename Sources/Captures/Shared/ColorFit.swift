import Core
import Media

/// Converts intrinsics from the picture size that the app states to the size of the existing
/// pictures.
///
/// Sizes are those of stored pictures, before any turn.
struct ColorFit {
  private let stated: PictureSize?
  private let stored: PictureSize?
  /// Why no intrinsics apply to the pictures; `nil` if they do.
  let obstacle: String?

  /// - Parameters:
  ///   - stated: the size in the metadata; if it equals the upright size of turned pictures, it
  ///     refers to that.
  ///   - track: the video, if its size is known.
  init(stated: PictureSize?, _ track: VideoTrack?) {
    self.init(
      stated: stated, stored: track?.storedSize,
      swapsSides: track?.orientation.swapsSides ?? false)
  }

  init(stated: PictureSize?, stored: PictureSize?, swapsSides: Bool = false) {
    let pictures = stored.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
    let isTurned = swapsSides && stated == pictures?.turned
    let claim = isTurned ? pictures : stated
    self.stated = claim
    self.stored = pictures
    if let claim, let pictures,
      PinholeCamera(Intrinsics(fx: 1, fy: 1, cx: 0, cy: 0), claim)
        .fitted(toWidth: pictures.width, height: pictures.height) == nil
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

  /// Whether two sizes have the same aspect; `true` unless both are known.
  static func haveOneAspect(_ one: PictureSize?, _ other: PictureSize?) -> Bool {
    ColorFit(stated: one, stored: other).obstacle == nil
  }

  /// Warns of depth of another aspect than the pictures: one camera takes both, so one of them shows less.
  static func reportAspect(
    ofDepth depth: PictureSize?, with color: PictureSize?, to warnings: WarningCollector
  ) {
    guard let depth, let color, !haveOneAspect(depth, color) else { return }
    warnings.add(
      .sizeMismatch, "alignment",
      "depth has \(depth.width)x\(depth.height), the pictures have \(color.width)x\(color.height), which has "
        + "another aspect ratio: depth is taken for the whole picture, and aligned depth is off where one of them "
        + "shows less")
  }

  /// The camera with the stated intrinsics for the existing pictures: rescaled by the half-pixel
  /// rule if the sizes differ. `nil` if no size is known. Must not be called if there is an
  /// obstacle.
  func camera(_ intrinsics: Intrinsics) -> PinholeCamera? {
    guard let own = stated ?? stored else { return nil }
    let camera = PinholeCamera(intrinsics, own)
    guard let stored else { return camera }
    return camera.fitted(toWidth: stored.width, height: stored.height)
  }

  /// The row of a frame with these stated intrinsics, in pictures of `size`.
  func row(_ frame: Int, _ stated: Intrinsics, _ size: PictureSize?) -> IntrinsicsRow {
    IntrinsicsRow(frame, camera(stated).map(Intrinsics.init) ?? stated, size)
  }
}

/// Focal lengths and principal point of a camera, in pixels of its pictures.
struct Intrinsics: Hashable {
  var fx, fy, cx, cy: Double

  init(fx: Double, fy: Double, cx: Double, cy: Double) {
    (self.fx, self.fy, self.cx, self.cy) = (fx, fy, cx, cy)
  }

  /// - Parameter matrix: 9 numbers, column by column.
  init(columnMajor matrix: [Double]) {
    self.init(fx: matrix[0], fy: matrix[4], cx: matrix[6], cy: matrix[7])
  }

  /// Four finite numbers, the focal lengths above 0; `nil` for others.
  init?(usable numbers: [Double?]) {
    let known = numbers.compactMap(\.self)
    guard known.count == 4, known.allSatisfy(\.isFinite), known[0] > 0, known[1] > 0 else {
      return nil
    }
    self.init(fx: known[0], fy: known[1], cx: known[2], cy: known[3])
  }

  init(_ camera: PinholeCamera) {
    self.init(fx: camera.fx, fy: camera.fy, cx: camera.cx, cy: camera.cy)
  }
}

extension IntrinsicsRow {
  var camera: Intrinsics { Intrinsics(fx: fx, fy: fy, cx: cx, cy: cy) }

  init(_ frame: Int, _ camera: Intrinsics, _ size: PictureSize?) {
    self.init(
      frame: frame, width: size?.width, height: size?.height, fx: camera.fx, fy: camera.fy,
      cx: camera.cx, cy: camera.cy)
  }
}

extension PinholeCamera {
  init(_ camera: Intrinsics, _ size: PictureSize) {
    self.init(
      width: size.width, height: size.height, fx: camera.fx, fy: camera.fy, cx: camera.cx,
      cy: camera.cy)
  }
}

extension PictureSize {
  /// The grid of depth of a LiDAR scanner, where no picture states another.
  static let lidarDepth = PictureSize(width: 256, height: 192)
}

extension VideoTrack {
  var storedSize: PictureSize { PictureSize(width: storedWidth, height: storedHeight) }
  var uprightSize: PictureSize { PictureSize(width: uprightWidth, height: uprightHeight) }
}

extension DepthCalibration {
  /// Depth taken by the color camera on a coarser grid: color pixel + ½ = (depth pixel + ½) · scale,
  /// the scale being the ratio of the sizes. No lens distortion is known.
  ///
  /// - Parameters:
  ///   - intrinsics: of any frame, in pixels of the stored picture; between such pictures only the
  ///     sizes matter, so one frame's stand for all.
  ///   - stored: the size of the stored pictures, if it is known.
  static func sameCamera(_ intrinsics: Intrinsics?, stored: PictureSize?) -> DepthCalibration {
    var color: PinholeCamera?
    if let intrinsics, let stored, stored.width > 0, stored.height > 0 {
      color = PinholeCamera(intrinsics, stored)
    }
    return DepthCalibration(registered: true, colorFromDepth: .identity, colorIntrinsics: color)
  }
}

/// Unusual properties of a video's pictures, which every family reports the same way.
struct VideoOddities {
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
