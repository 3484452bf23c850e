import Core

/// Where each pixel of an undistorted picture lies in the picture of the lens: the map of OpenCV's
/// `initUndistortRectifyMap`, tabulated.
///
/// A point at or beyond the lens's radius limit has no source, where OpenCV's polynomial would fold it
/// back into the picture. 12 bytes a pixel; immutable, for any number of threads. Cost of making one:
/// some 20 ns a pixel.
public struct UndistortionMap: Sendable {
  /// Size of the undistorted picture.
  public let width: Int
  public let height: Int
  /// Size of the picture of the lens.
  let sourceWidth: Int
  let sourceHeight: Int

  /// One pixel: the index of the upper left of its four source pixels, and the weights of the right and
  /// lower ones, out of `one`.
  private struct Entry {
    var source: Int32
    var right: UInt16
    var lower: UInt16
  }

  /// The entries of all pixels, row by row. `source` is -1 for pixels without source, and -2 for those
  /// some of whose source pixels lie outside of the picture, which are in `borders`.
  private let entries: [Entry]
  /// Position of the upper left source pixel, by index of the pixel.
  private let borders: [Border]
  /// The nearest source pixel of each pixel; -1 = none.
  private let nearest: [Int32]

  private struct Border {
    var pixel: Int
    var x: Int
    var y: Int
    var right: UInt32
    var lower: UInt32
  }

  private static let one: UInt32 = 2048

  /// - Parameters:
  ///   - camera: the lens, with the size of the pictures that are undistorted.
  ///   - target: the pinhole of the result.
  ///   - isNearest: whether the map is for `pick`, else for `interpolate`.
  public init(from camera: LensCamera, to target: PinholeCamera, isNearest: Bool = false) {
    (width, height) = (target.width, target.height)
    (sourceWidth, sourceHeight) = (camera.pinhole.width, camera.pinhole.height)
    let (columns, rows) = (camera.pinhole.width, camera.pinhole.height)
    var entries: [Entry] = []
    var borders: [Border] = []
    var nearest: [Int32] = []
    if isNearest {
      nearest.reserveCapacity(width * height)
    } else {
      entries.reserveCapacity(width * height)
    }
    for j in 0..<target.height {
      let y = (Double(j) - target.cy) / target.fy
      for i in 0..<target.width {
        let x = (Double(i) - target.cx) / target.fx
        // A position up to one pixel outside still has source pixels.
        let place = camera.projection(x: x, y: y, z: 1).flatMap { u, v in
          u > -1 && v > -1 && u < Double(columns) && v < Double(rows) ? (u: u, v: v) : nil
        }
        if isNearest {
          guard let place else {
            nearest.append(-1)
            continue
          }
          let (column, row) = (
            Int((place.u + 0.5).rounded(.down)), Int((place.v + 0.5).rounded(.down))
          )
          let isInside = (0..<columns).contains(column) && (0..<rows).contains(row)
          nearest.append(isInside ? Int32(truncatingIfNeeded: row * columns + column) : -1)
          continue
        }
        guard let place else {
          entries.append(Entry(source: -1, right: 0, lower: 0))
          continue
        }
        let (left, top) = (place.u.rounded(.down), place.v.rounded(.down))
        let one = Double(Self.one)
        let right = UInt32(((place.u - left) * one).rounded())
        let lower = UInt32(((place.v - top) * one).rounded())
        let (column, row) = (Int(left), Int(top))
        if column >= 0, row >= 0, column + 1 < columns, row + 1 < rows {
          entries.append(
            Entry(
              source: Int32(truncatingIfNeeded: row * columns + column), right: UInt16(right),
              lower: UInt16(lower)))
        } else {
          borders.append(
            Border(pixel: entries.count, x: column, y: row, right: right, lower: lower))
          entries.append(Entry(source: -2, right: 0, lower: 0))
        }
      }
    }
    self.entries = entries
    self.borders = borders
    self.nearest = nearest
  }

  /// Writes the undistorted RGB picture to `output`, which is resized if necessary. What lies
  /// outside of the source counts as black, as with OpenCV's `BORDER_CONSTANT`.
  ///
  /// `source` has the size of the lens's pictures; otherwise `output` is black. Not for maps of
  /// nearest pixels. Cost: some 5 ns a pixel.
  func interpolate<Sample: PictureSample>(_ source: [Sample], into output: inout [Sample]) {
    let count = width * height * 3
    output.resize(to: count)
    guard source.count == sourceWidth * sourceHeight * 3, entries.count == width * height else {
      for index in output.indices { output[index] = 0 }
      return
    }
    let stride = sourceWidth * 3
    let one = Sample.Sum(Self.one)
    source.withUnsafeBufferPointer { source in
      entries.withUnsafeBufferPointer { entries in
        output.withUnsafeMutableBufferPointer { output in
          guard let source = source.baseAddress, var target = output.baseAddress else { return }
          for entry in entries {
            if entry.source >= 0 {
              let upper = source + Int(entry.source) &* 3
              let lower = upper + stride
              let (b, d) = (
                Sample.Sum(truncatingIfNeeded: entry.right),
                Sample.Sum(truncatingIfNeeded: entry.lower)
              )
              let (a, c) = (one &- b, one &- d)
              for channel in 0..<3 {
                let above =
                  a &* Sample.Sum(truncatingIfNeeded: upper[channel])
                  &+ b &* Sample.Sum(truncatingIfNeeded: upper[channel &+ 3])
                let below =
                  a &* Sample.Sum(truncatingIfNeeded: lower[channel])
                  &+ b &* Sample.Sum(truncatingIfNeeded: lower[channel &+ 3])
                // At most 2048 · 2048 · 255 (or 65,535), which fits, plus half for rounding.
                target[channel] = Sample(
                  truncatingIfNeeded: (c &* above &+ d &* below &+ (1 << 21)) >> 22)
              }
            } else {
              target[0] = 0
              target[1] = 0
              target[2] = 0
            }
            target += 3
          }
        }
      }
    }
    for border in borders { interpolate(border, source, &output) }
  }

  /// A pixel at the border: source pixels outside count as black.
  private func interpolate<Sample: PictureSample>(
    _ border: Border, _ source: [Sample], _ output: inout [Sample]
  ) {
    func value(_ x: Int, _ y: Int, _ channel: Int) -> Sample.Sum {
      guard (0..<sourceWidth).contains(x), (0..<sourceHeight).contains(y) else { return 0 }
      return Sample.Sum(source[(y * sourceWidth + x) * 3 + channel])
    }
    let one = Sample.Sum(Self.one)
    let (b, d) = (Sample.Sum(border.right), Sample.Sum(border.lower))
    let (a, c) = (one - b, one - d)
    for channel in 0..<3 {
      let above =
        a * value(border.x, border.y, channel) + b * value(border.x + 1, border.y, channel)
      let below =
        a * value(border.x, border.y + 1, channel) + b * value(border.x + 1, border.y + 1, channel)
      output[border.pixel * 3 + channel] = Sample(
        truncatingIfNeeded: (c * above + d * below + (1 << 21)) >> 22)
    }
  }

  /// Writes the picture of the nearest source pixels to `output`, which is resized if necessary: depth
  /// and confidence, which must not be mixed. Pixels without source are 0.
  ///
  /// `source` has the size of the lens's pictures; otherwise `output` is 0. Only for maps of nearest
  /// pixels. Cost: some nanoseconds a pixel.
  public func pick<Pixel: FixedWidthInteger>(_ source: [Pixel], into output: inout [Pixel]) {
    let count = width * height
    output.resize(to: count)
    let fits = source.count == sourceWidth * sourceHeight && nearest.count == count
    for index in 0..<count {
      let from = fits ? Int(nearest[index]) : -1
      output[index] = from < 0 ? 0 : source[from]
    }
  }

  /// Whether a pixel of the undistorted picture has its nearest source pixel inside of the picture. For
  /// maps of nearest pixels.
  public func hasSource(_ pixel: Int) -> Bool {
    nearest.indices.contains(pixel) && nearest[pixel] >= 0
  }
}
