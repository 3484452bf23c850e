/// Everything that relates a depth camera to a color camera.
///
/// `colorFromDepth` maps depth-camera coordinates to color-camera coordinates, meters. A part that
/// was not recorded is `nil`.
public struct DepthCalibration: Hashable, Sendable {
  /// Whether depth and color share one camera (or the device registers depth to color).
  public var registered: Bool
  public var colorFromDepth: RigidTransform?
  public var depthIntrinsics: PinholeCamera?
  public var colorIntrinsics: PinholeCamera?
  public var depthDistortion: LensDistortion
  public var colorDistortion: LensDistortion

  public init(
    registered: Bool, colorFromDepth: RigidTransform? = nil, depthIntrinsics: PinholeCamera? = nil,
    colorIntrinsics: PinholeCamera? = nil, depthDistortion: LensDistortion = .none,
    colorDistortion: LensDistortion = .none
  ) {
    self.registered = registered
    self.colorFromDepth = colorFromDepth
    self.depthIntrinsics = depthIntrinsics
    self.colorIntrinsics = colorIntrinsics
    self.depthDistortion = depthDistortion
    self.colorDistortion = colorDistortion
  }

  /// Whether depth is that of the color camera, lens included, on a grid of its own.
  public var sharesCamera: Bool { registered && depthIntrinsics == nil }

  /// The lens through which depth was measured.
  public var effectiveDepthDistortion: LensDistortion {
    sharesCamera ? colorDistortion : depthDistortion
  }

  /// Whether the coefficients of a lens are known.
  public var statesLens: Bool { !depthDistortion.isNone || !colorDistortion.isNone }
}

/// A number in a calibration that cannot be true.
public struct CalibrationFault: Error, Hashable, CustomStringConvertible {
  /// The key as the calibration's JSON form spells it, such as `depthIntrinsics.fx`.
  public var key: String
  /// The value as it was read.
  public var value: String
  /// What the value would have to be.
  public var rule: String

  public init(key: String, value: String, rule: String) {
    self.key = key
    self.value = value
    self.rule = rule
  }

  public var description: String { "\(key) is \(value), but must be \(rule)" }
}

extension DepthCalibration {
  /// Longest side of a camera's picture, pixels. A larger number is treated as damage.
  public static let largestSide = 16_384
  /// Most pixels in a camera's picture, 64 Mi: bounds what is allocated from a calibration.
  public static let largestArea = 1 << 26

  /// The first value that cannot be true, in the order transform, depth camera, color camera; parts
  /// that are absent are not judged.
  ///
  /// A rotation must satisfy `RᵀR = I` within 1e-3 with a positive determinant: six printed decimals
  /// pass. Focal lengths must be positive, sizes 1 to `largestSide`, every number finite.
  public var firstFault: CalibrationFault? {
    transformFault
      ?? depthIntrinsics.flatMap { Self.fault(in: $0, key: "depthIntrinsics") }
      ?? colorIntrinsics.flatMap { Self.fault(in: $0, key: "colorIntrinsics") }
      ?? Self.fault(in: depthDistortion, key: "distortion.depth")
      ?? Self.fault(in: colorDistortion, key: "distortion.color") ?? lensFault
  }

  /// One camera has one lens: that of depth is not used, so it is not stated, or the same.
  private var lensFault: CalibrationFault? {
    guard sharesCamera, !depthDistortion.isNone, depthDistortion != colorDistortion else {
      return nil
    }
    return CalibrationFault(
      key: "distortion.depth", value: "\(depthDistortion.openCVOrder)",
      rule: "absent or that of color, where depth and color are one camera (registered)")
  }

  /// A message about a value that is possible but unlikely, such as a baseline of meters; `nil`
  /// without one.
  public var suspicion: String? {
    guard let baseline = colorFromDepth?.baselineMeters, baseline > Self.largestBaselineMeters
    else {
      return nil
    }
    let length = (baseline * 1000).rounded() / 1000
    return
      "colorFromDepth moves by \(length) m: the translation is in meters, and this one may be in "
      + "millimeters"
  }

  /// Baselines above this are reported as suspicious.
  static let largestBaselineMeters = 2.0

  private var transformFault: CalibrationFault? {
    guard let transform = colorFromDepth else { return nil }
    if let (index, value) = transform.rowMajor.enumerated().first(where: { !$0.element.isFinite }) {
      return CalibrationFault(key: "colorFromDepth[\(index)]", value: "\(value)", rule: "finite")
    }
    guard transform.isRigid(within: 1e-3) else {
      return CalibrationFault(
        key: "colorFromDepth", value: "\(transform.rowMajor)",
        rule: "a rotation (RᵀR = I within 0.001, determinant positive) and a translation")
    }
    return nil
  }

  private static func fault(in camera: PinholeCamera, key: String) -> CalibrationFault? {
    for (name, side) in [("width", camera.width), ("height", camera.height)] {
      guard (1...largestSide).contains(side) else {
        return CalibrationFault(
          key: "\(key).\(name)", value: "\(side)", rule: "1 to \(largestSide) pixels")
      }
    }
    guard camera.width * camera.height <= largestArea else {
      return CalibrationFault(
        key: "\(key).width × height", value: "\(camera.width)×\(camera.height)",
        rule: "at most \(largestArea) pixels")
    }
    for (name, focal) in [("fx", camera.fx), ("fy", camera.fy)] {
      guard focal.isFinite, focal > 0 else {
        return CalibrationFault(
          key: "\(key).\(name)", value: "\(focal)", rule: "above 0 and finite")
      }
    }
    for (name, center) in [("cx", camera.cx), ("cy", camera.cy)] where !center.isFinite {
      return CalibrationFault(key: "\(key).\(name)", value: "\(center)", rule: "finite")
    }
    return nil
  }

  private static func fault(in lens: LensDistortion, key: String) -> CalibrationFault? {
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
    for (name, value) in zip(names, lens.openCVOrder) where !value.isFinite {
      return CalibrationFault(key: "\(key).\(name)", value: "\(value)", rule: "finite")
    }
    return nil
  }
}

/// How many cameras took depth and color.
public enum CameraArrangement: Hashable, Sendable {
  /// Depth and color are one camera, or the device registers depth to color.
  case oneCamera
  /// Two cameras at different positions, with a transform between them.
  case twoCameras
}

extension DepthCalibration {
  /// How depth and color relate; `nil` where nothing states it: a color camera alone, or two
  /// cameras without a transform.
  ///
  /// A stated transform decides: text formats have no key for `registered` and write the identity
  /// instead.
  public var arrangement: CameraArrangement? {
    if let colorFromDepth { return colorFromDepth.isIdentity ? .oneCamera : .twoCameras }
    return registered ? .oneCamera : nil
  }
}

/// How far the distances of a structured-light sensor are from the truth, by pixel and distance: the table
/// of a laboratory, estimated on a large flat wall.
///
/// The picture is divided into cells and the range into slices; a value is measured / true distance.
/// Between the centers of cells values are interpolated linearly along all three axes.
public struct DepthDistortionTable: Hashable, Sendable {
  /// Cells across, down, and along the distance; 1…4096 each.
  public let columns: Int
  public let rows: Int
  let slices: Int
  /// Distance of the end of the last slice, meters, above 0.
  let maximumDistance: Float
  /// Index `slice · columns · rows + row · columns + column`; NaN for a cell that corrects nothing.
  private let values: [Float]

  /// Values that a cell may have. Others, and the mark -321 of an unknown cell, correct nothing.
  static let possible: ClosedRange<Float> = 0.5...2
  /// Most cells along an axis.
  public static let mostCells = 4096

  /// `nil` unless there is one value for each cell and the sizes and the distance are possible.
  public init?(columns: Int, rows: Int, slices: Int, maximumDistance: Float, values: [Float]) {
    let cells = 1...Self.mostCells
    guard cells.contains(columns), cells.contains(rows), cells.contains(slices),
      maximumDistance > 0, maximumDistance.isFinite, values.count == columns * rows * slices
    else { return nil }
    (self.columns, self.rows, self.slices) = (columns, rows, slices)
    self.maximumDistance = maximumDistance
    self.values = values.map { Self.possible.contains($0) ? $0 : .nan }
  }

  /// Number of cells that correct nothing.
  var unknownCells: Int { values.count(where: \.isNaN) }

  /// Whether every cell has a pixel of a picture of this size.
  public func fits(width: Int, height: Int) -> Bool { width >= columns && height >= rows }

  /// Two neighbors along an axis and the weight of the second; equal neighbors have weight 0.
  private struct Neighbors {
    var first: Int
    var second: Int
    var weight: Double

    init(_ position: Double, _ count: Int) {
      let clamped = min(max(position, 0), Double(count - 1))
      first = Int(clamped)
      weight = clamped - Double(first)
      second = weight > 0 ? min(first + 1, count - 1) : first
    }
  }

  /// Corrects a picture of `width` × `height` millimeters in place, rounded to nearest; 0 stays 0.
  ///
  /// A pixel is lost, and becomes 0, if any cell with a weight above 0 corrects nothing. Nothing is
  /// changed where the table does not fit the picture. Cost: some 15 ns for each measured pixel.
  ///
  /// - Returns: the number of pixels lost.
  public func correct(_ millimeters: inout [UInt16], width: Int, height: Int) -> Int {
    guard fits(width: width, height: height), millimeters.count == width * height else { return 0 }
    // Whole pixels, as in the reference; what is left over at the right and lower border has the values
    // of the last cells.
    let across = (0..<width).map { Neighbors(Double($0) / Double(width / columns), columns) }
    let down = (0..<height).map { Neighbors(Double($0) / Double(height / rows), rows) }
    let maximumMillimeters = Double(maximumDistance) * 1000
    let layer = columns * rows
    var lost = 0
    millimeters.withUnsafeMutableBufferPointer { pixels in
      values.withUnsafeBufferPointer { values in
        across.withUnsafeBufferPointer { across in
          var index = 0
          for y in down {
            let (upper, lower) = (y.first * columns, y.second * columns)
            for x in across {
              defer { index += 1 }
              let measured = pixels[index]
              if measured == 0 { continue }
              let z = Neighbors(Double(Int(measured) * slices) / maximumMillimeters, slices)
              func line(_ start: Int) -> Double {
                Self.mix(
                  Double(values[start + x.first]), Double(values[start + x.second]), x.weight)
              }
              func plane(_ slice: Int) -> Double {
                let base = slice * layer
                return Self.mix(line(base + upper), line(base + lower), y.weight)
              }
              let value = Self.mix(plane(z.first), plane(z.second), z.weight)
              let corrected = (Double(measured) / value).rounded()
              // Not a number: a cell corrects nothing.
              if corrected >= 0 && corrected <= 65_535 {
                pixels[index] = UInt16(corrected)
              } else {
                pixels[index] = 0
              }
              if pixels[index] == 0 { lost += 1 }
            }
          }
        }
      }
    }
    return lost
  }

  /// `a` alone where `b` has no weight, so that a cell without weight decides nothing.
  private static func mix(
    _ a: Double, _ b: @autoclosure () -> Double, _ weight: Double
  ) -> Double {
    weight == 0 ? a : a + weight * (b() - a)
  }
}
