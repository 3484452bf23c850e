import Core

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
      (CameraAxes.turnedFromStored(clockwiseQuarterTurns: turns) * aligner.colorFromDepth).inverse
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
