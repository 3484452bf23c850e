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

  /// What the steps of shading a row hand over for four pixels.
  struct Step: BitwiseCopyable {
    fileprivate var samples = TextureSet.Samples()
    fileprivate var texels = SIMD4<UInt32>.zero
    fileprivate var exposed = Lanes.zero
  }

  /// As many steps as a row of `width` pixels needs.
  static func steps(width: Int) -> [Step] { Array(repeating: Step(), count: width / group + 1) }

  /// Computes red, green, blue (1 = white; surfaces close to a lamp may exceed it) and the inverse
  /// depth in 1/m of row `v`. `depths` hold `group` more numbers above 0 than the row; after the row
  /// `group` colors become undefined.
  func shadeRow(
    _ v: Int, depths: Span<Double>, surfaces: Span<Int32>, steps: inout MutableSpan<Step>,
    into colors: inout MutableSpan<SIMD4<Float>>, at start: Int
  ) {
    let width = view.camera.width
    precondition(depths.count >= width + Self.group && surfaces.count >= width)
    precondition(start + width + Self.group <= colors.count)
    precondition(steps.count > width / Self.group)
    var u = 0
    while u < width {
      let surfaceIndex = surfaces[unchecked: u]
      var end = u &+ 1
      while end < width, surfaces[unchecked: end] == surfaceIndex { end &+= 1 }
      let surface = room.surfaces.span[unchecked: Int(surfaceIndex)]
      // Three loops, so that each has its numbers in registers. A group may reach beyond the columns.
      let groups = (end &- u &+ Self.group &- 1) / Self.group
      light(u, groups, v, on: surface, depths, &steps)
      var index = 0
      while index < groups {
        steps[unchecked: index].texels =
          room.textures.texels(at: steps[unchecked: index].samples.index)
        index &+= 1
      }
      mix(u, groups, surface.material, depths, steps.span, into: &colors, at: start)
      u = end
    }
  }

  /// The last step: mixes the two colors of the surface.
  @inline(never)
  private func mix(
    _ first: Int, _ groups: Int, _ material: Material, _ depths: Span<Double>,
    _ steps: Span<Step>, into colors: inout MutableSpan<SIMD4<Float>>, at start: Int
  ) {
    let dark = material.dark
    let span = material.light - dark
    var u = first
    for index in 0..<groups {
      let step = steps[unchecked: index]
      let mix = TextureSet.values(
        step.texels, right: step.samples.right, down: step.samples.down)
      let exposed = step.exposed
      let red = (dark.x + span.x * mix) * exposed
      let green = (dark.y + span.y * mix) * exposed
      let blue = (dark.z + span.z * mix) * exposed
      let inverse = 1 / Self.depth(depths, u)
      // What is stored beyond the columns is overwritten, or follows the row.
      let place = start &+ u
      colors[unchecked: place] = SIMD4(red.x, green.x, blue.x, inverse.x)
      colors[unchecked: place &+ 1] = SIMD4(red.y, green.y, blue.y, inverse.y)
      colors[unchecked: place &+ 2] = SIMD4(red.z, green.z, blue.z, inverse.z)
      colors[unchecked: place &+ 3] = SIMD4(red.w, green.w, blue.w, inverse.w)
      u &+= Self.group
    }
  }

  @inline(__always)
  private static func depth(_ depths: Span<Double>, _ u: Int) -> Lanes {
    Lanes(
      Float(depths[unchecked: u]), Float(depths[unchecked: u &+ 1]),
      Float(depths[unchecked: u &+ 2]), Float(depths[unchecked: u &+ 3]))
  }

  /// The first step: the places in the texture and the brightness of neighboring pixels that show one
  /// surface.
  @inline(never)
  private func light(
    _ first: Int, _ groups: Int, _ v: Int, on surface: Surface, _ depths: Span<Double>,
    _ steps: inout MutableSpan<Step>
  ) {
    let y = Float((Double(v) - view.camera.cy) / view.camera.fy)
    let row = turn.y * y + turn.z
    let directions = directions.span
    var u = first
    for index in 0..<groups {
      let x = Lanes(
        directions[unchecked: u], directions[unchecked: u &+ 1], directions[unchecked: u &+ 2],
        directions[unchecked: u &+ 3])
      let depth = Self.depth(depths, u)
      let direction = Lanes3(turn.x.x * x + row.x, turn.x.y * x + row.y, turn.x.z * x + row.z)
      let (samples, exposed) = light(
        on: surface, at: direction * depth + position, direction: direction,
        length: (x * x + y * y + 1).squareRoot(), depth: depth)
      steps[unchecked: index].samples = samples
      steps[unchecked: index].exposed = exposed
      u &+= Self.group
    }
  }

  /// The places in the texture, and the brightness, of four pixels.
  @inline(__always)
  private func light(
    on surface: Surface, at point: Lanes3, direction: Lanes3, length: Lanes, depth: Lanes
  ) -> (samples: TextureSet.Samples, exposed: Lanes) {
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
    let samples = room.textures.samples(
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
    return (samples, 1.35 * light / (0.35 + light))
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
