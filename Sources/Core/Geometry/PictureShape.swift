/// How published color pictures differ from those of the camera: first undistorted, then made smaller.
///
/// Everything here is about upright pictures. `PictureShape()` leaves pictures as they are.
public struct PictureShape: Hashable, Sendable {
  /// Whether the pictures are those of a pinhole.
  public var undistorts: Bool
  /// Which pinhole: `nil` keeps the camera's own intrinsics; 0 shows no pixel without source, 1 all of
  /// the source (OpenCV's `getOptimalNewCameraMatrix`). 0…1.
  public var alpha: Double?
  /// The size of the pictures; `nil` keeps it.
  public var sizing: PictureSizing?

  public init(undistorts: Bool = false, alpha: Double? = nil, sizing: PictureSizing? = nil) {
    self.undistorts = undistorts
    self.alpha = alpha
    self.sizing = sizing
  }

  /// Whether pictures stay as they are.
  public var isAsRecorded: Bool { !undistorts && sizing == nil }

  /// The size of a picture of `width` × `height` pixels.
  public func size(width: Int, height: Int) -> (width: Int, height: Int) {
    sizing?.size(width: width, height: height) ?? (width, height)
  }

  /// The pinhole of the undistorted picture before it is made smaller; the camera's own without
  /// undistortion. `nil` if the lens has no ray at the picture's border, which `alpha` needs.
  public func fullSizeCamera(from camera: LensCamera) -> PinholeCamera? {
    guard undistorts, let alpha else { return camera.pinhole }
    return camera.undistortedPinhole(alpha: alpha)
  }

  /// The camera of the published picture: intrinsics by the half-pixel rule, without lens terms if the
  /// picture is undistorted. `nil` as for `fullSizeCamera`.
  public func camera(from camera: LensCamera) -> LensCamera? {
    guard let full = fullSizeCamera(from: camera) else { return nil }
    let size = size(width: full.width, height: full.height)
    return LensCamera(
      pinhole: (size.width, size.height) == (full.width, full.height)
        ? full : full.scaled(toWidth: size.width, height: size.height),
      distortion: undistorts ? .none : camera.distortion)
  }
}

/// A rule for the size of pictures that are made smaller. The aspect stays up to the rounding of each
/// side to whole pixels, and no picture becomes larger.
public enum PictureSizing: Hashable, Sendable {
  /// The longer side has at most this many pixels, 1 or more.
  case longestEdge(Int)
  /// Both sides are multiplied by this share: above 0, up to 100 percent.
  case percent(Double)
  /// The picture fits into this many columns and rows, 1 or more each.
  case box(width: Int, height: Int)

  /// Longest side and box that can be stated, pixels.
  static let largestSide = 16_384

  /// Parses `960`, `50%` or `640x480`; `nil` for any other text.
  public init?(_ text: String) {
    func pixels(_ digits: Substring) -> Int? {
      guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit),
        let value = Int(digits), (1...Self.largestSide).contains(value)
      else { return nil }
      return value
    }
    if text.last == "%" {
      let number = text.dropLast()
      guard !number.isEmpty, number.utf8.allSatisfy({ $0.isDigit || $0 == 0x2E }),
        let value = Double(number), value > 0, value <= 100
      else { return nil }
      self = .percent(value)
      return
    }
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    switch sides.count {
    case 1:
      guard let edge = pixels(sides[0]) else { return nil }
      self = .longestEdge(edge)
    case 2:
      guard let width = pixels(sides[0]), let height = pixels(sides[1]) else { return nil }
      self = .box(width: width, height: height)
    default: return nil
    }
  }

  /// The rule in the form in which it is parsed; equal rules have equal texts.
  public var text: String {
    switch self {
    case .longestEdge(let edge): "\(edge)"
    case .percent(let value):
      value == value.rounded() ? "\(Int(value))%" : "\(value)%"
    case .box(let width, let height): "\(width)x\(height)"
    }
  }

  /// The size of a picture of `width` × `height` (1 or more each) under this rule: rounded to nearest,
  /// halves up, at least 1 pixel, at most the size itself.
  public func size(width: Int, height: Int) -> (width: Int, height: Int) {
    let (w, h) = (Double(width), Double(height))
    let scale: Double =
      switch self {
      case .longestEdge(let edge): Double(edge) / max(w, h)
      case .percent(let value): value / 100
      case .box(let boxWidth, let boxHeight): min(Double(boxWidth) / w, Double(boxHeight) / h)
      }
    guard scale.isFinite, scale > 0, scale < 1 else { return (width, height) }
    return (
      min(width, max(1, Int((w * scale).rounded()))),
      min(height, max(1, Int((h * scale).rounded())))
    )
  }
}
