/// A room whose rays can be cast exactly: the inside of a box, with boxes and balls in it.
///
/// World axes: y up, the floor at y = 0, meters.
struct Room: Sendable {
  /// Inner corners.
  private(set) var low: Vector3
  private(set) var high: Vector3
  private(set) var blocks: [Block] = []
  private(set) var balls: [Ball] = []
  /// The first six are the walls: −x, +x, floor, ceiling, −z, +z.
  private(set) var surfaces: [Surface] = []
  private(set) var lamps: [Lamp] = []
  let textures: TextureSet

  init(low: Vector3, high: Vector3, walls: [Material], lamps: [Lamp], textures: TextureSet) {
    precondition(walls.count == 6)
    self.low = low
    self.high = high
    self.lamps = lamps
    self.textures = textures
    let center = (low + high) / 2
    let half = (high - low) / 2
    surfaces = Self.faces(
      center: center, half: half, axes: .identity, materials: walls, seenFromInside: true)
  }

  /// Adds a box; `materials` are those of its faces −x, +x, −y, +y, −z, +z.
  mutating func add(
    center: Vector3, half: Vector3, turned angle: Double = 0, materials: [Material]
  ) {
    let axes = Matrix3.aboutY(angle)
    blocks.append(
      Block(center: center, half: half, worldFromBlock: axes, firstSurface: surfaces.count))
    surfaces += Self.faces(
      center: center, half: half, axes: axes, materials: materials, seenFromInside: false)
  }

  mutating func add(
    center: Vector3, half: Vector3, turned angle: Double = 0, material: Material
  ) {
    add(
      center: center, half: half, turned: angle,
      materials: Array(repeating: material, count: 6))
  }

  mutating func addBall(center: Vector3, radius: Double, material: Material) {
    balls.append(Ball(center: center, radius: radius, surface: surfaces.count))
    surfaces.append(
      Surface(
        shape: .sphere(SIMD3<Float>(center)), origin: SIMD3<Float>(center),
        along: SIMD3(1, 0, 0), down: SIMD3(0, -1, 0), normal: SIMD3(0, 1, 0), material: material))
  }

  private static func faces(
    center: Vector3, half: Vector3, axes: Matrix3, materials: [Material], seenFromInside: Bool
  ) -> [Surface] {
    var faces: [Surface] = []
    for face in 0..<6 {
      let axis = face / 2
      let outward = face % 2 == 0 ? -1.0 : 1.0
      let direction = [axes.x, axes.y, axes.z][axis] * outward
      let along = axis == 0 ? axes.z : axes.x
      let down = axis == 1 ? axes.z : axes.y * -1
      faces.append(
        Surface(
          shape: .plane, origin: SIMD3<Float>(center + direction * half[axis]),
          along: SIMD3<Float>(along), down: SIMD3<Float>(down),
          normal: SIMD3<Float>(seenFromInside ? direction * -1 : direction),
          material: materials[face]))
    }
    return faces
  }
}
