@testable import Core
@testable import Processing
import Testing

/// Alignment as it is written down, one triangle and one pixel at a time in double precision: slow, and
/// sharing nothing with the code under test but the values it takes.
struct ReferenceAligner {
  let depth: ReferenceCamera
  let output: ReferenceCamera
  let colorFromDepth: RigidTransform
  let parameters: AlignmentParameters

  private struct Vertex {
    var u, v, z: Double
    var stored: Int
  }

  init(_ calibration: DepthCalibration, _ parameters: AlignmentParameters) throws {
    let depth = try #require(calibration.depthIntrinsics)
    let color = try #require(calibration.colorIntrinsics)
    let size: (Int, Int) =
      switch parameters.grid {
      case .color: (color.width, color.height)
      case .halfColor: (color.width / 2, color.height / 2)
      case .quarterColor: (color.width / 4, color.height / 4)
      case .depth: (depth.width, depth.height)
      }
    let (sx, sy) = (Double(size.0) / Double(color.width), Double(size.1) / Double(color.height))
    let grid = PinholeCamera(
      width: size.0, height: size.1, fx: color.fx * sx, fy: color.fy * sy,
      cx: (color.cx + 0.5) * sx - 0.5, cy: (color.cy + 0.5) * sy - 0.5)
    self.depth = ReferenceCamera(depth, calibration.depthDistortion)
    output = ReferenceCamera(grid, calibration.colorDistortion)
    colorFromDepth = try #require(calibration.colorFromDepth)
    self.parameters = parameters
  }

  func aligned(_ image: DepthImage) -> DepthImage {
    var nearest = [Double](
      repeating: .infinity, count: output.pinhole.width * output.pinhole.height)
    let vertices = vertices(of: image)
    switch parameters.surface {
    case .mesh:
      for j in 0..<(image.height - 1) {
        for i in 0..<(image.width - 1) {
          let at = j * image.width + i
          drawQuad(
            vertices[at], vertices[at + 1], vertices[at + image.width],
            vertices[at + image.width + 1], &nearest)
        }
      }
    case .points:
      for case let vertex? in vertices { drawPoint(vertex, &nearest) }
    case .rectangle:
      for j in 0..<image.height {
        for i in 0..<image.width {
          guard let vertex = vertices[j * image.width + i] else { continue }
          drawPoint(vertex, &nearest)
          drawBox(i, j, vertex, &nearest)
        }
      }
    }
    let millimeters = nearest.map { z -> UInt16 in
      let rounded = (z + 0.5).rounded(.down)
      return rounded >= 1 && rounded <= 65_535 ? UInt16(rounded) : 0
    }
    return DepthImage(
      width: output.pinhole.width, height: output.pinhole.height, millimeters: millimeters)
  }

  private func vertices(of image: DepthImage) -> [Vertex?] {
    image.millimeters.enumerated().map { index, z in
      vertex(Double(index % image.width), Double(index / image.width), Int(z))
    }
  }

  private func vertex(_ i: Double, _ j: Double, _ stored: Int) -> Vertex? {
    guard stored > 0, let ray = depth.ray(i, j) else { return nil }
    let z = Double(stored) / 1000
    let q = colorFromDepth.apply(to: [z * ray.x, z * ray.y, z])
    guard q[2] >= parameters.minimumDepth, let pixel = output.project(q) else { return nil }
    return Vertex(u: pixel.u, v: pixel.v, z: q[2] * 1000, stored: stored)
  }

  private func drawQuad(
    _ a: Vertex?, _ b: Vertex?, _ c: Vertex?, _ d: Vertex?, _ nearest: inout [Double]
  ) {
    switch (a, b, c, d) {
    case (let a?, let b?, let c?, let d?):
      if abs(b.stored - c.stored) <= abs(a.stored - d.stored) {
        drawTriangle(a, b, c, &nearest)
        drawTriangle(b, d, c, &nearest)
      } else {
        drawTriangle(a, b, d, &nearest)
        drawTriangle(a, d, c, &nearest)
      }
    case (nil, let b?, let c?, let d?): drawTriangle(b, d, c, &nearest)
    case (let a?, nil, let c?, let d?): drawTriangle(a, d, c, &nearest)
    case (let a?, let b?, nil, let d?): drawTriangle(a, b, d, &nearest)
    case (let a?, let b?, let c?, nil): drawTriangle(a, b, c, &nearest)
    default: break
    }
  }

  private func drawTriangle(_ a: Vertex, _ b: Vertex, _ c: Vertex, _ nearest: inout [Double]) {
    let low = min(a.stored, b.stored, c.stored)
    let high = max(a.stored, b.stored, c.stored)
    let limit =
      parameters.discontinuityAbsolute * 1000 + parameters.discontinuityRelative * Double(low)
    guard Double(high - low) <= limit + 1e-9 else { return }
    let area = (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u)
    guard area > 0 else { return }
    let columns = Self.pixels([a.u, b.u, c.u], below: output.pinhole.width)
    let rows = Self.pixels([a.v, b.v, c.v], below: output.pinhole.height)
    for y in rows {
      for x in columns {
        func weight(_ p: Vertex, _ q: Vertex) -> Double {
          ((q.u - p.u) * (Double(y) - p.v) - (q.v - p.v) * (Double(x) - p.u)) / area
        }
        let (wa, wb, wc) = (weight(b, c), weight(c, a), weight(a, b))
        guard wa >= -1e-12, wb >= -1e-12, wc >= -1e-12 else { continue }
        let z = 1 / (wa / a.z + wb / b.z + wc / c.z)
        let at = y * output.pinhole.width + x
        nearest[at] = min(nearest[at], z)
      }
    }
  }

  private static func pixels(_ positions: [Double], below end: Int) -> Range<Int> {
    let first = max((positions.min() ?? 0).rounded(.up), 0)
    let last = min((positions.max() ?? 0).rounded(.down), Double(end - 1))
    return first <= last ? Int(first)..<(Int(last) + 1) : 0..<0
  }

  private func drawPoint(_ vertex: Vertex, _ nearest: inout [Double]) {
    let (x, y) = ((vertex.u + 0.5).rounded(.down), (vertex.v + 0.5).rounded(.down))
    guard x >= 0, y >= 0, x < Double(output.pinhole.width), y < Double(output.pinhole.height) else {
      return
    }
    let at = Int(y) * output.pinhole.width + Int(x)
    nearest[at] = min(nearest[at], vertex.z)
  }

  private func drawBox(_ i: Int, _ j: Int, _ center: Vertex, _ nearest: inout [Double]) {
    guard let p = vertex(Double(i) - 0.5, Double(j) - 0.5, center.stored),
      let q = vertex(Double(i) + 0.5, Double(j) + 0.5, center.stored)
    else { return }
    for y in 0..<output.pinhole.height
    where Double(y) >= min(p.v, q.v) && Double(y) < max(p.v, q.v) {
      for x in 0..<output.pinhole.width
      where Double(x) >= min(p.u, q.u) && Double(x) < max(p.u, q.u) {
        let at = y * output.pinhole.width + x
        nearest[at] = min(nearest[at], center.z)
      }
    }
  }
}
