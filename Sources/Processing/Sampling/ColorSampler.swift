import Geometry

/// The inverse of alignment: the color that each depth pixel has, sampled from the color picture.
///
/// A depth pixel goes to the color camera as a vertex of alignment does; its color is interpolated
/// bilinearly there. A pixel without depth, outside the color picture, behind the color camera or hidden
/// from it stays empty. Hidden means: the aligned depth at the nearest color pixel is nearer by more
/// than `discontinuityAbsolute + discontinuityRelative · that depth`.
///
/// May be used by any number of threads, each with its own scratch.
public struct ColorSampler: Sendable {
  /// Of the depth frames and the result.
  public var depthSize: PictureSize { aligner.depthSize }
  /// Of the color pictures, as they are stored (after a turn).
  public let colorSize: PictureSize

  private let aligner: DepthAligner
  private let rays: RayTable
  private let projector: VertexProjector
  private let clockwiseQuarterTurns: Int

  /// As for `DepthAligner`, which see; `surface` and `grid` do not matter here. The color pictures are
  /// those of the calibration's color camera, turned clockwise by `clockwiseQuarterTurns` × 90°.
  public init(
    calibration: DepthCalibration, parameters: AlignmentParameters = AlignmentParameters(),
    depthSize: PictureSize? = nil, colorSize: PictureSize? = nil, clockwiseQuarterTurns: Int = 0
  ) throws(AlignmentError) {
    var mesh = parameters
    mesh.surface = .mesh
    mesh.grid = .color
    aligner = try DepthAligner(
      calibration: calibration, parameters: mesh, depthSize: depthSize, colorSize: colorSize)
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize)
    let depth = cameras.depth.pinhole
    self.clockwiseQuarterTurns = ((clockwiseQuarterTurns % 4) + 4) % 4
    self.colorSize = PictureSize(
      cameras.color.pinhole.turnedClockwise(quarterTurns: clockwiseQuarterTurns))
    projector = VertexProjector(
      width: depth.width, translation: cameras.colorFromDepth.translation, color: cameras.color,
      minimumDepth: parameters.minimumDepth, snaps: false)
    rays = RayTable(
      camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
      rows: depth.height, stride: projector.stride)
  }

  /// Samples one frame: `picture` gets the depth camera's size, `mask` is 255 where a color was found
  /// and 0 where `picture` is empty (black).
  ///
  /// Throws `frameSize` for a depth frame, `sizeMismatch` for a color picture of another size. Cost:
  /// that of alignment and some nanoseconds a depth pixel.
  public func sample(
    _ color: ColorImage, for depth: [UInt16], scratch: inout ColorSamplerScratch,
    into picture: inout ColorImage, mask: inout GrayImage
  ) throws(AlignmentError) {
    let size = PictureSize(width: color.width, height: color.height)
    guard size == colorSize else {
      throw .sizeMismatch(camera: .color, calibration: colorSize, picture: size)
    }
    try aligner.align(depth, scratch: &scratch.alignment, into: &scratch.aligned)
    let (width, height) = (depthSize.width, depthSize.height)
    picture = ColorImage(width: width, height: height)
    mask = GrayImage(
      width: width, height: height, values: Array(repeating: 0, count: width * height))
    let n = projector.stride
    AlignmentScratch.fit(&scratch.vertices, VertexProjector.streams * n)
    for j in 0..<height {
      project(row: j, of: depth, &scratch.vertices)
      for i in 0..<width {
        let inverseDepth = scratch.vertices[2 * n + i]
        let (u, v) = (scratch.vertices[i], scratch.vertices[n + i])
        guard inverseDepth > 0, isVisible(u, v, 1 / inverseDepth, scratch.aligned) else { continue }
        let at = j * width + i
        let found = color.bilinear(turned(u, v))
        picture.rgb[3 * at] = found.red
        picture.rgb[3 * at + 1] = found.green
        picture.rgb[3 * at + 2] = found.blue
        mask.values[at] = 255
      }
    }
  }

  private func project(row j: Int, of depth: [UInt16], _ vertices: inout [Float]) {
    depth.withUnsafeBufferPointer { depth in
      rays.values.withUnsafeBufferPointer { rays in
        vertices.withUnsafeMutableBufferPointer { vertices in
          guard let depth = depth.baseAddress, let rays = rays.baseAddress,
            let vertices = vertices.baseAddress
          else { return }
          projector.project(
            depth: depth + j * depthSize.width, rays: rays + 3 * projector.stride * j,
            into: vertices)
        }
      }
    }
  }

  /// Whether a point is in the unturned color picture with nothing aligned before it.
  private func isVisible(_ u: Float, _ v: Float, _ z: Float, _ aligned: [UInt16]) -> Bool {
    let size = aligner.unturnedSize
    let (x, y) = (u + 0.5, v + 0.5)
    guard x >= 0, y >= 0, x < Float(size.width), y < Float(size.height) else { return false }
    let before = Float(aligned[Int(y) * size.width + Int(x)])
    let parameters = aligner.parameters
    let tolerance =
      Float(parameters.discontinuityAbsolute * 1000) + Float(parameters.discontinuityRelative)
      * before
    return before == 0 || z <= before + tolerance
  }

  /// A position of the unturned color picture in the stored one.
  private func turned(_ u: Float, _ v: Float) -> (x: Float, y: Float) {
    let size = aligner.unturnedSize
    let (right, bottom) = (Float(size.width - 1), Float(size.height - 1))
    return switch clockwiseQuarterTurns {
    case 1: (bottom - v, u)
    case 2: (right - u, bottom - v)
    case 3: (v, right - u)
    default: (u, v)
    }
  }
}

/// Memory that a worker uses again from frame to frame: one per thread.
public struct ColorSamplerScratch: Sendable {
  var alignment = AlignmentScratch()
  var aligned: [UInt16] = []
  var vertices: [Float] = []

  public init() {}
}
