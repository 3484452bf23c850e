/// One camera that stands for the cameras of all frames.
public struct MedianCamera: Hashable, Sendable {
  /// Size of the first camera; each parameter is the median over all.
  public let camera: PinholeCamera

  /// `nil` without cameras. Cost: sorts four lists.
  public init?(_ cameras: [PinholeCamera]) {
    guard let first = cameras.first else { return nil }
    camera = PinholeCamera(
      width: first.width, height: first.height, fx: Median.of(cameras.map(\.fx)),
      fy: Median.of(cameras.map(\.fy)), cx: Median.of(cameras.map(\.cx)),
      cy: Median.of(cameras.map(\.cy)))
  }
}

/// How far the cameras of frames lie from one camera that stands for all of them.
public struct CameraSpread: Hashable, Sendable {
  /// The largest difference of a principal point, along x or y, pixels.
  let principalPoint: Double
  /// The largest difference of a focal length, along x or y, pixels.
  let focalLength: Double
  /// Number of cameras with a parameter that differs by more than `usual`.
  public let unusual: Int

  /// Difference in pixels above which one camera for all frames causes a warning. Reconstructions
  /// are judged by errors of one to two pixels, and the autofocus of a phone changes its camera by
  /// about one.
  static let usual = 2.0

  /// - Parameter cameras: of pictures of the size of `camera`.
  public init(of cameras: [PinholeCamera], about camera: PinholeCamera) {
    var (center, focal, count) = (0.0, 0.0, 0)
    for other in cameras {
      let ofCenter = max(abs(other.cx - camera.cx), abs(other.cy - camera.cy))
      let ofFocal = max(abs(other.fx - camera.fx), abs(other.fy - camera.fy))
      (center, focal) = (max(center, ofCenter), max(focal, ofFocal))
      if max(ofCenter, ofFocal) > Self.usual { count += 1 }
    }
    (principalPoint, focalLength, unusual) = (center, focal, count)
  }

  /// The largest difference of any parameter, pixels.
  public var largest: Double { max(principalPoint, focalLength) }

  /// For people: "the principal point is up to 3 pixels away from it, …".
  ///
  /// - Parameter camera: the word for the one camera.
  public func words(from camera: String) -> String {
    func text(_ pixels: Double) -> String {
      let rounded = (pixels * 1000).rounded() / 1000
      return PlainNumber.text(rounded) ?? "\(rounded)"
    }
    return
      "the principal point is up to \(text(principalPoint)) pixels away from \(camera), the focal length "
      + "up to \(text(focalLength)) pixels; \(unusual) frames are more than \(text(Self.usual)) pixels off"
  }
}
