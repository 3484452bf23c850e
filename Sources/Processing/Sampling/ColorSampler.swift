import Core

/// The inverse of alignment: finds the color of each depth pixel in the color picture.
///
/// A depth pixel is projected into the color camera like a vertex of alignment, and its color is
/// interpolated bilinearly there. Pixels without depth, outside the color picture, behind the color
/// camera or occluded stay empty. A pixel is occluded if the aligned depth at the nearest color
/// pixel is nearer by more than `discontinuityAbsolute + discontinuityRelative · that depth`.
///
/// May be used by any number of threads, each with its own scratch.
public struct ColorSampler: Sendable {
  /// Size of the depth frames and of the result.
  public var depthSize: PictureSize { aligner.depthSize }
  /// Size of the color pictures as published (after a turn).
  var colorSize: PictureSize { PictureSize(colorCamera) }
  /// Camera of the color pictures as published (after a turn).
  public let colorCamera: PinholeCamera
  /// The lens of the upright color pictures before they got their shape.
  public let recordedDistortion: LensDistortion
  /// Cameras whose intrinsics were rescaled from the calibration's size to the capture's.
  public var rescaledCameras: [CameraRescale] { aligner.rescaledCameras }

  private let aligner: DepthAligner
  private let rays: RayTable
  private let projector: VertexProjector
  private let clockwiseQuarterTurns: Int

  /// Parameters are those of `DepthAligner`; `surface` and `grid` have no effect here. The color
  /// pictures are those of the calibration's color camera, turned clockwise by
  /// `clockwiseQuarterTurns` × 90°, and shaped.
  public init(
    calibration: DepthCalibration, parameters: AlignmentParameters = AlignmentParameters(),
    depthSize: PictureSize? = nil, colorSize: PictureSize? = nil, clockwiseQuarterTurns: Int = 0,
    shape: PictureShape = PictureShape()
  ) throws(AlignmentError) {
    var mesh = parameters
    mesh.surface = .mesh
    mesh.grid = .color
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize, shape: shape,
      clockwiseQuarterTurns: clockwiseQuarterTurns)
    // Sampled before the turn, like the pictures that the sampler turns back.
    aligner = try DepthAligner(
      cameras, parameters: mesh, clockwiseQuarterTurns: 0)
    let depth = cameras.depth.pinhole
    self.clockwiseQuarterTurns = clockwiseQuarterTurns.withinFullTurn
    recordedDistortion = calibration.colorDistortion.turnedClockwise(
      quarterTurns: clockwiseQuarterTurns)
    colorCamera = cameras.color.pinhole.turnedClockwise(quarterTurns: clockwiseQuarterTurns)
    projector = VertexProjector(
      width: depth.width, translation: cameras.colorFromDepth.translation, color: cameras.color,
      minimumDepth: parameters.minimumDepth, snaps: false)
    rays = RayTable(
      camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
      rows: depth.height, stride: projector.stride)
  }

  /// Samples one frame. `picture` gets the depth camera's size; `mask` is 255 where a color was
  /// found and 0 where `picture` is empty (black). Their memory is reused if it has the right size.
  ///
  /// Throws `frameSize` for a depth frame, `sizeMismatch` for a color picture of another size.
  /// Cost: that of alignment plus some nanoseconds per depth pixel.
  public func sample(
    _ color: ColorImage, for depth: Span<UInt16>, scratch: inout ColorSamplerScratch,
    into picture: inout ColorImage, mask: inout GrayImage
  ) throws(AlignmentError) {
    guard color.size == colorSize else {
      throw .sizeMismatch(camera: .color, calibration: colorSize, picture: color.size)
    }
    try aligner.align(depth, scratch: &scratch.alignment, into: &scratch.aligned)
    let (width, height) = (depthSize.width, depthSize.height)
    if (picture.width, picture.height) != (width, height) {
      picture = ColorImage(width: width, height: height)
    }
    if (mask.width, mask.height) != (width, height) {
      mask = GrayImage(
        width: width, height: height, values: Array(repeating: 0, count: width * height))
    }
    scratch.vertices.resize(to: VertexProjector.streams * projector.stride)
    for j in 0..<height {
      project(row: j, of: depth, &scratch.vertices)
      sample(
        row: j, color, scratch.aligned, scratch.vertices, &picture.rgb, &mask.values)
    }
  }

  private func project(row j: Int, of depth: Span<UInt16>, _ vertices: inout [Float]) {
    depth.withUnsafeBufferPointer { depth in
      rays.values.withUnsafeBufferPointer { rays in
        vertices.withUnsafeMutableBufferPointer { vertices in
          guard let depth = depth.baseAddress, let rays = rays.baseAddress,
            let vertices = vertices.baseAddress
          else { return }
          projector.project(
            depth: depth + j * depthSize.width,
            rays: rays + RayTable.rowLength(stride: projector.stride) * j, into: vertices)
        }
      }
    }
  }

  /// Samples one row of depth pixels and writes every value of it.
  private func sample(
    row j: Int, _ color: ColorImage, _ aligned: [UInt16], _ vertices: [Float],
    _ rgb: inout [UInt8], _ mask: inout [UInt8]
  ) {
    let start = j * depthSize.width
    color.rgb.withUnsafeBufferPointer { colors in
      aligned.withUnsafeBufferPointer { aligned in
        vertices.withUnsafeBufferPointer { vertices in
          rgb.withUnsafeMutableBufferPointer { rgb in
            mask.withUnsafeMutableBufferPointer { mask in
              guard let colors = colors.baseAddress, let aligned = aligned.baseAddress,
                let vertices = vertices.baseAddress, let rgb = rgb.baseAddress,
                let mask = mask.baseAddress
              else { return }
              sample(
                SourcePicture(colors, width: color.width, height: color.height), aligned, vertices,
                into: rgb + 3 * start, mask + start)
            }
          }
        }
      }
    }
  }

  private func sample(
    _ source: SourcePicture, _ aligned: UnsafePointer<UInt16>, _ vertices: UnsafePointer<Float>,
    into rgb: UnsafeMutablePointer<UInt8>, _ mask: UnsafeMutablePointer<UInt8>
  ) {
    let (n, width) = (projector.stride, depthSize.width)
    let visibility = Visibility(aligner, aligned)
    let turn = PositionTurn(aligner.unturnedSize, quarterTurns: clockwiseQuarterTurns)
    var i = 0
    while i < width {
      let inverseDepth = vertices[2 &* n &+ i]
      let (u, v) = (vertices[i], vertices[n &+ i])
      var found: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0)
      var isSeen: UInt8 = 0
      if inverseDepth > 0, visibility.isVisible(u, v, 1 / inverseDepth) {
        found = source.bilinear(turn(u, v))
        isSeen = 255
      }
      rgb[3 &* i] = found.red
      rgb[3 &* i &+ 1] = found.green
      rgb[3 &* i &+ 2] = found.blue
      mask[i] = isSeen
      i &+= 1
    }
  }
}

/// Tests whether the color camera sees a point, by the aligned depth of the unturned picture.
private struct Visibility {
  let aligned: UnsafePointer<UInt16>
  let width: Int
  let right, bottom: Float
  let absolute, relative: Float

  init(_ aligner: DepthAligner, _ aligned: UnsafePointer<UInt16>) {
    self.aligned = aligned
    width = aligner.unturnedSize.width
    right = Float(aligner.unturnedSize.width)
    bottom = Float(aligner.unturnedSize.height)
    absolute = Float(aligner.parameters.discontinuityAbsolute * 1000)
    relative = Float(aligner.parameters.discontinuityRelative)
  }

  /// Whether a point is in the picture with no aligned surface in front of it.
  @inline(__always)
  func isVisible(_ u: Float, _ v: Float, _ z: Float) -> Bool {
    let (x, y) = (u + 0.5, v + 0.5)
    guard x >= 0, y >= 0, x < right, y < bottom else { return false }
    let before = Float(aligned[Int(y) &* width &+ Int(x)])
    return before == 0 || z <= before + absolute + relative * before
  }
}

/// Converts a position in the unturned color picture to one in the stored picture.
private struct PositionTurn {
  let right, bottom: Float
  let quarterTurns: Int

  init(_ size: PictureSize, quarterTurns: Int) {
    right = Float(size.width - 1)
    bottom = Float(size.height - 1)
    self.quarterTurns = quarterTurns
  }

  @inline(__always)
  func callAsFunction(_ u: Float, _ v: Float) -> (x: Float, y: Float) {
    switch quarterTurns {
    case 1: (bottom - v, u)
    case 2: (right - u, bottom - v)
    case 3: (v, right - u)
    default: (u, v)
    }
  }
}

/// Buffers that a worker reuses from frame to frame: one per thread.
public struct ColorSamplerScratch: Sendable {
  var alignment = AlignmentScratch()
  var aligned: [UInt16] = []
  var vertices: [Float] = []

  public init() {}
}

/// A color picture to sample from, valid while its memory stays in place.
struct SourcePicture {
  private let rgb: UnsafePointer<UInt8>
  private let right, bottom: Int
  private let rowBytes: Int

  /// `rgb` holds width × height × 3 bytes and the picture is not empty.
  init(_ rgb: UnsafePointer<UInt8>, width: Int, height: Int) {
    self.rgb = rgb
    right = width - 1
    bottom = height - 1
    rowBytes = 3 * width
  }

  /// The color at a finite position, interpolated between the four pixels around it (pixel centers
  /// at integers), each channel rounded to nearest. Beyond the outermost centers the border pixels
  /// are used.
  @inline(__always)
  func bilinear(_ position: (x: Float, y: Float)) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let x = min(max(position.x, 0), Float(right))
    let y = min(max(position.y, 0), Float(bottom))
    let (column, row) = (Int(x), Int(y))
    let (fx, fy) = (x - Float(column), y - Float(row))
    let upper = rgb + (row &* rowBytes &+ 3 &* column)
    let lower = upper + (row < bottom ? rowBytes : 0)
    let next = column < right ? 3 : 0
    return (
      Self.mix(upper, lower, next, 0, fx, fy), Self.mix(upper, lower, next, 1, fx, fy),
      Self.mix(upper, lower, next, 2, fx, fy)
    )
  }

  @inline(__always)
  private static func mix(
    _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ next: Int, _ channel: Int,
    _ fx: Float, _ fy: Float
  ) -> UInt8 {
    let (a, b) = (Float(upper[channel]), Float(upper[channel &+ next]))
    let (c, d) = (Float(lower[channel]), Float(lower[channel &+ next]))
    let above = a + fx * (b - a)
    let value = above + fy * (c + fx * (d - c) - above)
    // Adding 2²³ leaves the integer part of a small positive number in the low bits, rounded to
    // nearest.
    return UInt8(truncatingIfNeeded: (value + 8_388_608).bitPattern)
  }
}

/// Finds the confidence of aligned depth: that of the depth pixel nearest to where the depth camera sees the point of
/// a color pixel. Values stay as they are; a color pixel without depth has 0.
///
/// Make one per aligner. The rays of the color camera are tabulated (8 bytes per pixel of the output; one lens inversion
/// each). May be used by any number of threads.
public struct ConfidenceSampler: Sendable {
  private let rays: [SIMD2<Float>]
  private let depthFromOutput: RigidTransform
  private let depthCamera: LensCamera

  public init(_ aligner: DepthAligner) {
    let turns = aligner.clockwiseQuarterTurns
    let output = aligner.outputCamera.turnedClockwise(quarterTurns: turns)
    depthCamera = aligner.depthCamera
    depthFromOutput =
      (RigidTransform.turnedFromStored(clockwiseQuarterTurns: turns) * aligner.colorFromDepth)
      .inverse
    let (width, height) = (output.pinhole.width, output.pinhole.height)
    rays = (0..<width * height).map { pixel in
      let ray = output.ray(u: Double(pixel % width), v: Double(pixel / width))
      return ray.map { SIMD2(Float($0.x), Float($0.y)) } ?? SIMD2(.nan, .nan)
    }
  }

  /// Samples one frame. `aligned` is what the aligner made of its depth; `confidence` may have another size than depth.
  ///
  /// Cost: a projection for each pixel with depth.
  public func sample(_ confidence: GrayImage, for aligned: [UInt16], into values: inout [UInt8]) {
    values = [UInt8](repeating: 0, count: aligned.count)
    let size = PictureSize(depthCamera.pinhole)
    let (r, t) = (depthFromOutput.rotation, depthFromOutput.translation)
    let (r0, r1, r2, r3, r4, r5, r6, r7, r8) = (
      r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]
    )
    let (tx, ty, tz) = (t[0], t[1], t[2])
    guard aligned.count == rays.count,
      confidence.values.count == confidence.width * confidence.height
    else { return }
    for pixel in aligned.indices where aligned[pixel] != 0 {
      let (a, b) = (Double(rays[pixel].x), Double(rays[pixel].y))
      let z = Double(aligned[pixel]) / 1000
      guard
        let seen = depthCamera.projection(
          x: z * (r0 * a + r1 * b + r2) + tx, y: z * (r3 * a + r4 * b + r5) + ty,
          z: z * (r6 * a + r7 * b + r8) + tz)
      else { continue }
      // The nearest pixel of depth, and the pixel of confidence at its place.
      let x = Int(min(max(seen.u.rounded(), 0), Double(size.width - 1)))
      let y = Int(min(max(seen.v.rounded(), 0), Double(size.height - 1)))
      values[pixel] =
        confidence.values[
          y * confidence.height / size.height * confidence.width + x * confidence.width / size.width
        ]
    }
  }
}

/// Converts color pictures to brightness.
public enum GrayConversion {
  /// Brightness of a color, as computer vision tools compute it: Y = ⌊0.299 R + 0.587 G + 0.114 B + ½⌋ in integers, 0…255.
  @inline(__always)
  static func luma(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
    let thousandths = 299 &* UInt32(red) &+ 587 &* UInt32(green) &+ 114 &* UInt32(blue) &+ 500
    // Division by 1000: first by 8, then by 125 as a product with 33,555 / 2²². Exact up to 59,073 eighths;
    // the largest sum has 31,937.
    return UInt8(truncatingIfNeeded: ((thousandths &>> 3) &* 33_555) &>> 22)
  }

  /// Replaces `gray` by the brightness of an RGB picture, three bytes per pixel. Cost: about 0.3 ns per pixel.
  public static func gray(fromRGB rgb: [UInt8], into gray: inout [UInt8]) {
    let count = rgb.count / 3
    gray.resize(to: count)
    rgb.withUnsafeBufferPointer { rgb in
      gray.withUnsafeMutableBufferPointer { gray in
        for pixel in 0..<count {
          gray[pixel] = luma(
            red: rgb[3 &* pixel], green: rgb[3 &* pixel &+ 1], blue: rgb[3 &* pixel &+ 2])
        }
      }
    }
  }
}
