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
    self.clockwiseQuarterTurns = ((clockwiseQuarterTurns % 4) + 4) % 4
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
    let size = PictureSize(width: color.width, height: color.height)
    guard size == colorSize else {
      throw .sizeMismatch(camera: .color, calibration: colorSize, picture: size)
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
    AlignmentScratch.fit(&scratch.vertices, VertexProjector.streams * projector.stride)
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
