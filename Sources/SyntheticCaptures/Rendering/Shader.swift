import Geometry

/// Computes the color of hits from texture, lamps and distance, before lens and sensor.
struct Shader: Sendable {
  let view: PreparedView
  private let room: Room
  private let position: SIMD3<Float>
  private let turn: (x: SIMD3<Float>, y: SIMD3<Float>, z: SIMD3<Float>)
  /// Size of a pixel in meters at a distance of one meter.
  private let pixelSize: Float
  /// Light from all directions.
  private static let ambient: Float = 0.26

  init(room: Room, view: PreparedView) {
    self.room = room
    self.view = view
    position = SIMD3<Float>(view.viewpoint.position)
    let turn = view.viewpoint.worldFromCamera
    self.turn = (SIMD3<Float>(turn.x), SIMD3<Float>(turn.y), SIMD3<Float>(turn.z))
    pixelSize = Float(1 / view.camera.fx)
  }

  /// Computes red, green, blue (1 = white; surfaces close to a lamp may exceed it) and the inverse
  /// depth in 1/m of row `v`.
  func shadeRow(
    _ v: Int, _ hits: Span<RayHit>, into colors: inout MutableSpan<SIMD4<Float>>, at start: Int
  ) {
    let camera = view.camera
    precondition(hits.count >= camera.width && start + camera.width <= colors.count)
    let y = Float((Double(v) - camera.cy) / camera.fy)
    let rowDirection = turn.y * y + turn.z
    var u = 0
    while u < camera.width {
      let hit = hits[unchecked: u]
      let x = (Float(u) - Float(camera.cx)) * pixelSize
      let direction = turn.x * x + rowDirection
      let depth = Float(hit.depth)
      colors[unchecked: start &+ u] = color(
        of: Int(hit.surface), at: position + direction * depth, direction: direction,
        length: (x * x + y * y + 1).squareRoot(), depth: depth)
      u &+= 1
    }
  }

  @inline(__always)
  private func color(
    of surfaceIndex: Int, at point: SIMD3<Float>, direction: SIMD3<Float>, length: Float,
    depth: Float
  ) -> SIMD4<Float> {
    let surface = room.surfaces.span[unchecked: surfaceIndex]
    var normal = surface.normal
    let offset = point - surface.origin
    var u = dot(offset, surface.along)
    var v = dot(offset, surface.down)
    if case .sphere(let center) = surface.shape {
      let outward = point - center
      normal = outward * (1 / dot(outward, outward).squareRoot())
      // A map without visible poles: two coordinates of the normal, bent by the third.
      u = normal.x + 0.3 * normal.z
      v = normal.y - 0.3 * normal.z
    }
    // How many texels a pixel covers: more if the surface is seen at an angle.
    let cosine = max(0.15, -dot(normal, direction) / length)
    let density = surface.material.texelsPerMeter
    let texels = depth * pixelSize * density
    let squared = texels * texels / cosine
    let level = squared > 1 ? Int((squared.bitPattern &>> 23) &- 127 &+ 1) &>> 1 : 0
    let mix = room.textures.sample(
      surface.material.texture, u: u * density, v: v * density, level: level)

    var light = Self.ambient
    for lamp in room.lamps {
      let toLamp = lamp.position - point
      let squared = dot(toLamp, toLamp) + 0.05
      let facing = dot(normal, toLamp)
      if facing > 0 { light += lamp.power * facing / (squared.squareRoot() * squared) }
    }
    // Shadows are lifted and highlights compressed, as by a camera's own processing.
    let exposed = 1.35 * light / (0.35 + light)
    let material = surface.material
    var color = (material.dark + (material.light - material.dark) * mix) * exposed
    color.w = 1 / depth
    return color
  }

  @inline(__always)
  private func dot(_ a: SIMD3<Float>, _ b: SIMD3<Float>) -> Float {
    a.x * b.x + a.y * b.y + a.z * b.z
  }
}
