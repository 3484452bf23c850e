import Geometry

/// Computes the color of hits from texture, lamps and distance, before lens and sensor.
struct Shader: Sendable {
  let view: PreparedView
  private let room: Room
  private let position: SIMD3<Float>
  private let turn: (x: SIMD3<Float>, y: SIMD3<Float>, z: SIMD3<Float>)
  /// Size of a pixel in meters at a distance of one meter.
  private let pixelSize: Float
  /// x of the direction of every column, and of those that fill the last group.
  private let directions: [Float]
  /// Light from all directions.
  private static let ambient: Float = 0.26
  /// Pixels that are computed together.
  static let group = 4

  init(room: Room, view: PreparedView) {
    self.room = room
    self.view = view
    position = SIMD3<Float>(view.viewpoint.position)
    let turn = view.viewpoint.worldFromCamera
    self.turn = (SIMD3<Float>(turn.x), SIMD3<Float>(turn.y), SIMD3<Float>(turn.z))
    let pixelSize = Float(1 / view.camera.fx)
    self.pixelSize = pixelSize
    let center = Float(view.camera.cx)
    directions = (0..<view.camera.width + Self.group).map { (Float($0) - center) * pixelSize }
  }

  /// Computes red, green, blue (1 = white; surfaces close to a lamp may exceed it) and the inverse
  /// depth in 1/m of row `v`. `depths` hold `group` more numbers above 0 than the row.
  func shadeRow(
    _ v: Int, depths: Span<Double>, surfaces: Span<Int32>,
    into colors: inout MutableSpan<SIMD4<Float>>, at start: Int
  ) {
    let width = view.camera.width
    precondition(depths.count >= width + Self.group && surfaces.count >= width)
    precondition(start + width <= colors.count)
    var u = 0
    while u < width {
      let surface = surfaces[unchecked: u]
      var end = u &+ 1
      while end < width, surfaces[unchecked: end] == surface { end &+= 1 }
      shade(
        u..<end, v, on: room.surfaces.span[unchecked: Int(surface)], depths, into: &colors,
        at: start)
      u = end
    }
  }

  /// Shades neighboring pixels that show one surface.
  private func shade(
    _ columns: Range<Int>, _ v: Int, on surface: Surface, _ depths: Span<Double>,
    into colors: inout MutableSpan<SIMD4<Float>>, at start: Int
  ) {
    let y = Float((Double(v) - view.camera.cy) / view.camera.fy)
    let row = turn.y * y + turn.z
    let directions = directions.span
    var u = columns.lowerBound
    while u < columns.upperBound {
      // A group may reach beyond the columns; what it computes there is not used.
      let x = Lanes(
        directions[unchecked: u], directions[unchecked: u &+ 1], directions[unchecked: u &+ 2],
        directions[unchecked: u &+ 3])
      let depth = Lanes(
        Float(depths[unchecked: u]), Float(depths[unchecked: u &+ 1]),
        Float(depths[unchecked: u &+ 2]), Float(depths[unchecked: u &+ 3]))
      let direction = Lanes3(turn.x.x * x + row.x, turn.x.y * x + row.y, turn.x.z * x + row.z)
      let (mix, exposed) = light(
        on: surface, at: direction * depth + position, direction: direction,
        length: (x * x + y * y + 1).squareRoot(), depth: depth)
      let dark = surface.material.dark
      let span = surface.material.light - dark
      let red = (dark.x + span.x * mix) * exposed
      let green = (dark.y + span.y * mix) * exposed
      let blue = (dark.z + span.z * mix) * exposed
      let inverse = 1 / depth
      let place = start &+ u
      let count = columns.upperBound &- u
      colors[unchecked: place] = SIMD4(red.x, green.x, blue.x, inverse.x)
      if count > 1 { colors[unchecked: place &+ 1] = SIMD4(red.y, green.y, blue.y, inverse.y) }
      if count > 2 { colors[unchecked: place &+ 2] = SIMD4(red.z, green.z, blue.z, inverse.z) }
      if count > 3 { colors[unchecked: place &+ 3] = SIMD4(red.w, green.w, blue.w, inverse.w) }
      u &+= Self.group
    }
  }

  /// The share of the light color in the texture, and the brightness.
  @inline(__always)
  private func light(
    on surface: Surface, at point: Lanes3, direction: Lanes3, length: Lanes, depth: Lanes
  ) -> (mix: Lanes, exposed: Lanes) {
    var normal = Lanes3(surface.normal)
    let offset = point - surface.origin
    var u = offset.dot(Lanes3(surface.along))
    var v = offset.dot(Lanes3(surface.down))
    if case .sphere(let center) = surface.shape {
      let outward = point - center
      normal = outward * (1 / outward.dot(outward).squareRoot())
      // A map without visible poles: two coordinates of the normal, bent by the third.
      u = normal.x + 0.3 * normal.z
      v = normal.y - 0.3 * normal.z
    }
    // How many texels a pixel covers: more if the surface is seen at an angle.
    var cosine = -normal.dot(direction) / length
    cosine.replace(with: 0.15, where: cosine .< 0.15)
    let density = surface.material.texelsPerMeter
    let texels = depth * pixelSize * density
    let squared = texels * texels / cosine
    // Half of the exponent, rounded up; not above 0 where a texel is larger than a pixel.
    let level = (unsafeBitCast(squared, to: SIMD4<Int32>.self) &>> 23 &- 126) &>> 1
    let mix = room.textures.sample(
      surface.material.texture, u: u * density, v: v * density, level: level)

    var light = Lanes(repeating: Self.ambient)
    let lamps = room.lamps.span
    for index in lamps.indices {
      let lamp = lamps[unchecked: index]
      let toLamp = Lanes3(lamp.position) - point
      let facing = normal.dot(toLamp)
      let isLit = facing .> 0
      guard anyLane(isLit) else { continue }
      let squared = toLamp.dot(toLamp) + 0.05
      let more = light + lamp.power * facing / (squared.squareRoot() * squared)
      light.replace(with: more, where: isLit)
    }
    // Shadows are lifted and highlights compressed, as by a camera's own processing.
    return (mix, 1.35 * light / (0.35 + light))
  }
}

/// Four vectors of four pixels side by side.
struct Lanes3 {
  var x: Lanes
  var y: Lanes
  var z: Lanes

  @inline(__always)
  init(_ x: Lanes, _ y: Lanes, _ z: Lanes) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The same vector four times.
  @inline(__always)
  init(_ vector: SIMD3<Float>) {
    self.init(
      Lanes(repeating: vector.x), Lanes(repeating: vector.y), Lanes(repeating: vector.z))
  }

  @inline(__always)
  static func * (a: Self, b: Lanes) -> Self { Self(a.x * b, a.y * b, a.z * b) }

  @inline(__always)
  static func + (a: Self, b: SIMD3<Float>) -> Self { Self(a.x + b.x, a.y + b.y, a.z + b.z) }

  @inline(__always)
  static func - (a: Self, b: SIMD3<Float>) -> Self { Self(a.x - b.x, a.y - b.y, a.z - b.z) }

  @inline(__always)
  static func - (a: Self, b: Self) -> Self { Self(a.x - b.x, a.y - b.y, a.z - b.z) }

  @inline(__always)
  func dot(_ other: Self) -> Lanes { x * other.x + y * other.y + z * other.z }
}
