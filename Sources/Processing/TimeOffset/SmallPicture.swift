import Core

extension SmallPicture {
  private static let steps = 6
  /// Mean square of the difference of pictures with variance 1 beyond which they do not match.
  private static let mostDifference: Float = 0.6

  /// The rotation of a camera from this picture to another, as if all that they show were far away: axis times angle in
  /// axes of the camera, radians; `nil` if the pictures do not match.
  ///
  /// The three angles are those that let this picture, turned, match the other one best (Gauss and Newton's method, from
  /// small pictures to large ones). What is near moves as the camera moves, too; that counts as noise here.
  ///
  /// - Parameter focalLength: in pixels of the first level; the principal point is the middle.
  ///
  /// Cost: some 20 passes over 7,000 pixels.
  func rotation(to other: SmallPicture, focalLength: Float) -> SIMD3<Float>? {
    guard levels.count == other.levels.count, focalLength > 0, focalLength.isFinite else {
      return nil
    }
    var turn = SIMD3<Float>.zero
    var difference = Float.infinity
    for (index, pair) in zip(levels, other.levels).enumerated().reversed() {
      guard pair.0.width == pair.1.width, pair.0.height == pair.1.height,
        let problem = RotationProblem(
          pair.0, pair.1, focalLength: focalLength / Float(1 << index))
      else { return nil }
      for _ in 0..<Self.steps {
        guard let step = problem.step(at: turn) else { return nil }
        turn += step.change
        difference = step.difference
        if (step.change * step.change).sum() < 1e-10 { break }
      }
    }
    // Half a radian from frame to frame is no motion of a hand.
    guard (turn * turn).sum() < 0.25, difference < Self.mostDifference else { return nil }
    return turn
  }
}

/// Least squares for one size of the pictures.
private struct RotationProblem {
  private let template: SmallPicture.Level
  private let picture: SmallPicture.Level
  private let focalLength: Float
  private let center: SIMD2<Float>
  /// By pixel of the template, its border left out: how its brightness changes with the three angles.
  private var slopes: [SIMD3<Float>] = []
  private let inverse: Inverse

  /// `nil` if the pictures do not determine three angles.
  init?(_ template: SmallPicture.Level, _ picture: SmallPicture.Level, focalLength: Float) {
    self.template = template
    self.picture = picture
    self.focalLength = focalLength
    let (width, height) = (template.width, template.height)
    center = SIMD2(Float(width - 1) / 2, Float(height - 1) / 2)
    var (xx, xy, xz, yy, yz, zz) = (Float(0), Float(0), Float(0), Float(0), Float(0), Float(0))
    slopes.reserveCapacity((width - 2) * (height - 2))
    for row in 1..<(height - 1) {
      let v = (Float(row) - center.y) / focalLength
      for column in 1..<(width - 1) {
        let at = row * width + column
        let u = (Float(column) - center.x) / focalLength
        let gx = (template.values[at + 1] - template.values[at - 1]) / 2 * focalLength
        let gy = (template.values[at + width] - template.values[at - width]) / 2 * focalLength
        let slope = SIMD3(
          gx * u * v + gy * (1 + v * v), -gx * (1 + u * u) - gy * u * v, gx * v - gy * u)
        slopes.append(slope)
        xx += slope.x * slope.x
        xy += slope.x * slope.y
        xz += slope.x * slope.z
        yy += slope.y * slope.y
        yz += slope.y * slope.z
        zz += slope.z * slope.z
      }
    }
    guard
      let inverse = Inverse(
        SIMD3(Double(xx), Double(xy), Double(xz)), SIMD3(Double(xy), Double(yy), Double(yz)),
        SIMD3(Double(xz), Double(yz), Double(zz)))
    else { return nil }
    self.inverse = inverse
  }

  /// One step from a rotation toward the best one, and the mean square of the difference before it; `nil` if
  /// less than half of the template lies in the picture.
  func step(at turn: SIMD3<Float>) -> (change: SIMD3<Float>, difference: Float)? {
    let (width, height) = (template.width, template.height)
    // Points turn the other way; second order of the angle.
    let angle = -turn
    var right = SIMD3<Float>.zero
    var square: Float = 0
    var count = 0
    var place = 0
    for row in 1..<(height - 1) {
      let v = (Float(row) - center.y) / focalLength
      for column in 1..<(width - 1) {
        defer { place += 1 }
        let ray = SIMD3((Float(column) - center.x) / focalLength, v, 1)
        let once = cross(angle, ray)
        let seen = ray + once + cross(angle, once) * 0.5
        guard seen.z > 0.1 else { continue }
        let x = seen.x / seen.z * focalLength + center.x
        let y = seen.y / seen.z * focalLength + center.y
        guard x >= 0, y >= 0, x < Float(width - 1), y < Float(height - 1) else { continue }
        let (left, top) = (Int(x), Int(y))
        let (fx, fy) = (x - Float(left), y - Float(top))
        let at = top * width + left
        let values = picture.values
        let upper = values[at] + (values[at + 1] - values[at]) * fx
        let lower = values[at + width] + (values[at + width + 1] - values[at + width]) * fx
        let difference = upper + (lower - upper) * fy - template.values[row * width + column]
        right += slopes[place] * difference
        square += difference * difference
        count += 1
      }
    }
    guard count * 2 > slopes.count else { return nil }
    let change = inverse.applied(to: right) * (-Float(slopes.count) / Float(count))
    return (change, square / Float(count))
  }

  /// The inverse of a symmetric matrix of 3 x 3.
  private struct Inverse {
    private let rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    /// `nil` if it is singular or nearly so.
    init?(_ a: SIMD3<Double>, _ b: SIMD3<Double>, _ c: SIMD3<Double>) {
      let (p, q, r) = (cross(b, c), cross(c, a), cross(a, b))
      let determinant = (a * p).sum()
      let trace = a.x + b.y + c.z
      guard determinant.isFinite, determinant > 1e-9 * trace * trace * trace else { return nil }
      rows = (p / determinant, q / determinant, r / determinant)
    }

    func applied(to v: SIMD3<Float>) -> SIMD3<Float> {
      let w = SIMD3<Double>(v)
      return SIMD3(
        Float((rows.0 * w).sum()), Float((rows.1 * w).sum()), Float((rows.2 * w).sum()))
    }
  }
}

extension CameraTurn {
  /// From two pictures; `nil` if they do not match, or as the other initializers.
  ///
  /// - Parameter focalLength: in pixels of the pictures that were reduced.
  public init?(
    from first: SmallPicture, at start: Timestamp, to second: SmallPicture, at end: Timestamp,
    focalLength: Double
  ) {
    guard end > start,
      let turn = first.rotation(
        to: second, focalLength: Float(focalLength / Double(max(1, first.factor))))
    else { return nil }
    self.init(start: start, end: end, rate: SIMD3<Double>(turn) / (Double(end - start) / 1e9))
  }
}

/// A gray picture of at most `longestSide` pixels, and halves of it down to 12: what is needed of a picture to
/// see how the camera turned.
public struct SmallPicture: Sendable {
  /// One size: brightness row by row, with mean 0 and variance 1.
  struct Level {
    var width: Int
    var height: Int
    var values: [Float]
  }

  static let longestSide = 96
  private static let leastSide = 12

  /// From large to small; never empty.
  let levels: [Level]
  /// Pixels of the given picture that are one pixel of the first level.
  let factor: Int

  /// Reduces 8-bit RGB by a whole factor. `nil` if the bytes are not those of the size, a side gets below 12
  /// pixels, or the picture shows no difference. Cost: a pass over the bytes.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard width > 0, height > 0, rgb.count == width * height * 3 else { return nil }
    let factor = max(1, (max(width, height) + Self.longestSide - 1) / Self.longestSide)
    let (columns, rows) = (width / factor, height / factor)
    guard min(columns, rows) >= Self.leastSide else { return nil }
    self.factor = factor
    var values = [Float](repeating: 0, count: columns * rows)
    rgb.withUnsafeBufferPointer { bytes in
      for row in 0..<(rows * factor) {
        let line = row * width * 3
        let out = row / factor * columns
        for column in 0..<columns {
          var sum = 0
          let start = line + column * factor * 3
          for index in start..<(start + factor * 3) { sum &+= Int(bytes[index]) }
          values[out + column] += Float(sum)
        }
      }
    }
    // Single pixels of a reduced picture hold noise, and edges that interpolation cannot move.
    Self.smooth(&values, width: columns, height: rows)
    var levels = [Level(width: columns, height: rows, values: values)]
    while let last = levels.last, min(last.width, last.height) >= 2 * Self.leastSide {
      levels.append(Self.half(last))
    }
    for index in levels.indices {
      guard Self.normalize(&levels[index].values) else { return nil }
    }
    self.levels = levels
  }

  /// The mean of neighbors with the weights 1, 2, 1 in both directions.
  private static func smooth(_ values: inout [Float], width: Int, height: Int) {
    for (count, stride, lines, lineStride) in [
      (width, 1, height, width), (height, width, width, 1),
    ] {
      for line in 0..<lines {
        var before = values[line * lineStride]
        for place in 0..<count {
          let at = line * lineStride + place * stride
          let here = values[at]
          let after = place + 1 < count ? values[at + stride] : here
          values[at] = (before + 2 * here + after) / 4
          before = here
        }
      }
    }
  }

  private static func half(_ level: Level) -> Level {
    let (width, height) = (level.width / 2, level.height / 2)
    var values = [Float](repeating: 0, count: width * height)
    for row in 0..<height {
      for column in 0..<width {
        let at = 2 * row * level.width + 2 * column
        values[row * width + column] =
          level.values[at] + level.values[at + 1] + level.values[at + level.width]
          + level.values[at + level.width + 1]
      }
    }
    return Level(width: width, height: height, values: values)
  }

  /// Brightness and contrast change from picture to picture. `false` without any contrast.
  private static func normalize(_ values: inout [Float]) -> Bool {
    let count = Float(max(1, values.count))
    let mean = values.reduce(0, +) / count
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    // Less than a level of 255 for each of the pixels that were added.
    guard variance > 1e-6 * mean * mean, variance > 0 else { return false }
    let scale = 1 / variance.squareRoot()
    for index in values.indices { values[index] = (values[index] - mean) * scale }
    return true
  }
}
