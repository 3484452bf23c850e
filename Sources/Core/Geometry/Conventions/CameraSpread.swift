extension PinholeCamera {
  /// One camera that stands for the cameras of all frames: each parameter is the median over all, the size that of the
  /// first. `nil` without cameras. Cost: sorts four lists.
  public init?(medianOf cameras: [PinholeCamera]) {
    guard let first = cameras.first else { return nil }
    self.init(
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
      return rounded.plainText ?? "\(rounded)"
    }
    return
      "the principal point is up to \(text(principalPoint)) pixels away from \(camera), the focal length "
      + "up to \(text(focalLength)) pixels; \(unusual) frames are more than \(text(Self.usual)) pixels off"
  }
}

/// The median of a list of numbers.
public enum Median {
  /// The median; for an even count the mean of the middle two, for an empty list 0.
  public static func of(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    guard sorted.count % 2 == 0 else { return sorted[middle] }
    // Equal values are returned as they are: their sum could overflow.
    return sorted[middle - 1] == sorted[middle]
      ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2
  }

  /// The median as one of the values: for an even count the larger of the middle two; `nil` for an empty list. Cost: a
  /// sort.
  public static func upper<Value: Comparable>(_ values: [Value]) -> Value? {
    upper(ofSorted: values.sorted())
  }

  /// The upper median of ascending values.
  public static func upper<Value: Comparable>(ofSorted values: [Value]) -> Value? {
    values.isEmpty ? nil : values[values.count / 2]
  }
}

extension Double {
  /// The number for formats whose decimals have no exponent (XML Schema's `decimal`): the shortest decimal text that reads
  /// back to the same double, `0.00001`, `12`, `0` for -0. `nil` for values that are not finite.
  public var plainText: String? {
    guard isFinite else { return nil }
    if self == 0 { return "0" }
    let text = magnitude.description
    let parts = text.split(separator: "e")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let mantissa = parts[0].split(separator: ".")
    let whole = mantissa[0]
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    let digits = String(whole) + String(fraction)
    // Position of the decimal point among the digits.
    let point = whole.count + exponent
    let plain: String
    if point <= 0 {
      plain = "0." + String(repeating: "0", count: -point) + digits
    } else if point >= digits.count {
      plain = digits + String(repeating: "0", count: point - digits.count)
    } else {
      plain = digits.prefix(point) + "." + digits.dropFirst(point)
    }
    return (self < 0 ? "-" : "") + plain
  }
}
