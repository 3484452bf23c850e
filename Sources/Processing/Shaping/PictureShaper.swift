import Core

/// Gives upright RGB pictures of 8 or 16 bits a shape: undistorts them, then makes them smaller. One per worker; keeps
/// the last map and its memory from picture to picture.
public struct PictureShaper: Sendable {
  let shape: PictureShape
  private var latest: (camera: LensCamera, map: UndistortionMap)?
  private var reduction = AreaReduction()
  private var narrow = Memory<UInt8>()
  private var wide = Memory<UInt16>()

  /// Buffers that are reused from picture to picture.
  fileprivate struct Memory<Sample: PictureSample> {
    var undistorted: [Sample] = []
    var reduced: [Sample] = []
  }

  public init(_ shape: PictureShape) {
    self.shape = shape
  }

  /// The shaped picture with its size; `rgb` itself if nothing changes. Its memory is used again for
  /// the next picture.
  ///
  /// Cost: for undistortion some 5 ns a pixel, and 20 ns more when the camera is another one than for
  /// the picture before; for reduction some 3 ns a pixel.
  ///
  /// - Parameters:
  ///   - camera: the camera of this picture, for undistortion. For a picture of another size it is
  ///     scaled so that the outer borders stay in place.
  ///   - shared: a map that may be used in place of one of its own.
  public mutating func shaped(
    _ rgb: [UInt8], width: Int, height: Int, camera: LensCamera?,
    shared: (camera: LensCamera, map: UndistortionMap)? = nil
  ) throws(AlignmentError) -> (rgb: [UInt8], width: Int, height: Int) {
    let map = try map(width, height, camera, shared)
    return shape.apply(to: rgb, width, height, map, &reduction, &narrow)
  }

  /// Shapes a picture of 16 bits.
  public mutating func shaped(
    _ rgb: [UInt16], width: Int, height: Int, camera: LensCamera?,
    shared: (camera: LensCamera, map: UndistortionMap)? = nil
  ) throws(AlignmentError) -> (rgb: [UInt16], width: Int, height: Int) {
    let map = try map(width, height, camera, shared)
    return shape.apply(to: rgb, width, height, map, &reduction, &wide)
  }

  /// The map of a picture of `width` × `height` pixels; `nil` if it is not undistorted.
  private mutating func map(
    _ width: Int, _ height: Int, _ camera: LensCamera?,
    _ shared: (camera: LensCamera, map: UndistortionMap)?
  ) throws(AlignmentError) -> UndistortionMap? {
    guard shape.undistorts, let camera else { return nil }
    let own =
      (camera.pinhole.width, camera.pinhole.height) == (width, height)
      ? camera : camera.scaled(toWidth: width, height: height)
    if let shared, shared.camera == own { return shared.map }
    if latest?.camera != own { latest = (own, try Self.map(own, shape)) }
    return latest?.map
  }

  /// The map of pictures of a camera before they are made smaller.
  public static func map(
    _ camera: LensCamera, _ shape: PictureShape
  ) throws(AlignmentError) -> UndistortionMap {
    guard let target = shape.fullSizeCamera(from: camera) else {
      throw .noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    return UndistortionMap(from: camera, to: target)
  }
}

extension PictureShape {
  /// The picture undistorted by `map`, if there is one, and made smaller.
  fileprivate func apply<Sample: PictureSample>(
    to rgb: [Sample], _ width: Int, _ height: Int, _ map: UndistortionMap?,
    _ reduction: inout AreaReduction, _ memory: inout PictureShaper.Memory<Sample>
  ) -> (rgb: [Sample], width: Int, height: Int) {
    let size = size(width: width, height: height)
    map?.interpolate(rgb, into: &memory.undistorted)
    let full = map == nil ? rgb : memory.undistorted
    if size == (width, height) { return (full, width, height) }
    reduction.mean(full, width, height, size.width, size.height, into: &memory.reduced)
    return (memory.reduced, size.width, size.height)
  }
}

/// Makes RGB pictures of 8 or 16 bits smaller: each pixel becomes the mean of the area that it covers, with the
/// shares of pixels that it covers in part, rounded to nearest (OpenCV's `INTER_AREA`). Of 16 bits it is the mean of what
/// the values are, light or signals; sums are of 24 bits, so a value may differ from the exact mean by some hundredths
/// more than rounding makes it.
///
/// Keeps tables and memory from picture to picture; one per worker.
public struct AreaReduction: Sendable {
  private var columns: [Cell] = []
  private var rows: [Cell] = []
  private var setup = (width: 0, height: 0, newWidth: 0, newHeight: 0)
  /// The row of the source that was reduced last, and its sums.
  private var reduced: [Float] = []
  private var sums: [Float] = []

  /// The pixels that a pixel of the result covers along one axis.
  private struct Cell {
    var first: Int
    /// Shares of the first pixel, of all between, and of the last one; together they are 1. With one
    /// pixel `last` is not used.
    var firstShare: Float
    var innerShare: Float
    var lastShare: Float
    var count: Int
  }

  public init() {}

  /// Writes the reduced picture to `output`, which is resized if necessary.
  ///
  /// `source` has `width` × `height` × 3 values; the new sides are at least 1 and at most the old ones.
  /// Otherwise `output` is black. Cost: some 3 ns for each pixel of the source.
  public mutating func reduce(
    _ source: [UInt8], width: Int, height: Int, toWidth newWidth: Int, height newHeight: Int,
    into output: inout [UInt8]
  ) {
    mean(source, width, height, newWidth, newHeight, into: &output)
  }

  mutating func mean<Sample: PictureSample>(
    _ source: [Sample], _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int,
    into output: inout [Sample]
  ) {
    let count = max(0, newWidth) * max(0, newHeight) * 3
    output.resize(to: count)
    guard source.count == width * height * 3, (1...max(1, width)).contains(newWidth),
      (1...max(1, height)).contains(newHeight)
    else {
      for index in output.indices { output[index] = 0 }
      return
    }
    prepare(width, height, newWidth, newHeight)
    let rowValues = newWidth * 3
    source.withUnsafeBufferPointer { source in
      output.withUnsafeMutableBufferPointer { output in
        reduced.withUnsafeMutableBufferPointer { reduced in
          sums.withUnsafeMutableBufferPointer { sums in
            columns.withUnsafeBufferPointer { columns in
              guard let source = source.baseAddress, let output = output.baseAddress,
                let reduced = reduced.baseAddress, let sums = sums.baseAddress,
                let columns = columns.baseAddress
              else { return }
              var latest = -1
              for (row, cell) in rows.enumerated() {
                for offset in 0..<cell.count {
                  let y = cell.first &+ offset
                  // Two rows of the result may share one of the source.
                  if y != latest {
                    Self.reduce(row: source + y &* width &* 3, columns, newWidth, into: reduced)
                    latest = y
                  }
                  let share =
                    offset == 0
                    ? cell.firstShare : offset == cell.count - 1 ? cell.lastShare : cell.innerShare
                  if offset == 0 {
                    for index in 0..<rowValues { sums[index] = share * reduced[index] }
                  } else {
                    for index in 0..<rowValues { sums[index] += share * reduced[index] }
                  }
                }
                let target = output + row &* rowValues
                for index in 0..<rowValues {
                  target[index] = Sample(rounding: sums[index])
                }
              }
            }
          }
        }
      }
    }
  }

  /// The means along one row of the source.
  private static func reduce<Sample: PictureSample>(
    row: UnsafePointer<Sample>, _ columns: UnsafePointer<Cell>, _ count: Int,
    into reduced: UnsafeMutablePointer<Float>
  ) {
    for column in 0..<count {
      let cell = columns[column]
      var pixel = row + cell.first &* 3
      var red = cell.firstShare * pixel[0].float
      var green = cell.firstShare * pixel[1].float
      var blue = cell.firstShare * pixel[2].float
      if cell.count > 1 {
        var (redSum, greenSum, blueSum): (Sample.Sum, Sample.Sum, Sample.Sum) = (0, 0, 0)
        for _ in 1..<(cell.count - 1) {
          pixel += 3
          redSum &+= Sample.Sum(truncatingIfNeeded: pixel[0])
          greenSum &+= Sample.Sum(truncatingIfNeeded: pixel[1])
          blueSum &+= Sample.Sum(truncatingIfNeeded: pixel[2])
        }
        pixel += 3
        red += cell.innerShare * Sample.float(redSum) + cell.lastShare * pixel[0].float
        green += cell.innerShare * Sample.float(greenSum) + cell.lastShare * pixel[1].float
        blue += cell.innerShare * Sample.float(blueSum) + cell.lastShare * pixel[2].float
      }
      reduced[column &* 3] = red
      reduced[column &* 3 &+ 1] = green
      reduced[column &* 3 &+ 2] = blue
    }
  }

  private mutating func prepare(_ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int) {
    if setup == (width, height, newWidth, newHeight) { return }
    setup = (width, height, newWidth, newHeight)
    columns = Self.cells(width, newWidth)
    rows = Self.cells(height, newHeight)
    reduced = [Float](repeating: 0, count: newWidth * 3)
    sums = reduced
  }

  /// What each of `newCount` pixels covers of `count`, exactly: bounds are fractions of whole numbers.
  private static func cells(_ count: Int, _ newCount: Int) -> [Cell] {
    (0..<newCount).map { index in
      // In units of 1 / newCount pixel.
      let (start, end) = (index * count, (index + 1) * count)
      let first = start / newCount
      let last = (end - 1) / newCount
      let whole = Float(count)
      if first == last {
        return Cell(first: first, firstShare: 1, innerShare: 0, lastShare: 0, count: 1)
      }
      return Cell(
        first: first, firstShare: Float((first + 1) * newCount - start) / whole,
        innerShare: Float(newCount) / whole, lastShare: Float(end - last * newCount) / whole,
        count: last - first + 1)
    }
  }
}

/// A value of a picture of 8 or 16 bits, with what sums of such values need.
///
/// Conversions are requirements, because the generic ones of integers are slow. Code over samples is
/// specialized inside of this module only: what is public takes arrays of one type.
protocol PictureSample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable {
  /// Holds 2^22 times the largest value, as the weights of undistortion make it, and the sum of a row.
  associatedtype Sum: FixedWidthInteger & UnsignedInteger

  /// Exact.
  var float: Float { get }
  /// Rounded to 24 bits.
  static func float(_ sum: Sum) -> Float
  /// To nearest, halves up; what lies outside of the range becomes its end. Not for NaN.
  init(rounding value: Float)
}

extension UInt8: PictureSample {
  typealias Sum = UInt32

  var float: Float { Float(self) }

  static func float(_ sum: UInt32) -> Float { Float(sum) }

  init(rounding value: Float) { self = UInt8(Swift.max(0, Swift.min(255, value + 0.5))) }
}

extension UInt16: PictureSample {
  typealias Sum = UInt64

  var float: Float { Float(self) }

  // Sums stay far below 2^63, and the signed conversion is one instruction.
  static func float(_ sum: UInt64) -> Float { Float(Int64(truncatingIfNeeded: sum)) }

  init(rounding value: Float) {
    self = UInt16(Swift.max(0, Swift.min(65_535, value + 0.5)))
  }
}
