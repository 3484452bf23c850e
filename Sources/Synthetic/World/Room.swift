/// A room whose rays can be cast exactly: the inside of a box, with boxes and balls in it.
///
/// World axes: y up, the floor at y = 0, meters.
struct Room {
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

extension Room {
  /// Center of the free space for the camera in the furnished scene.
  static let cameraCenter = Vector3(0, 1.35, 0)
  static let cameraReach = Vector3(0.55, 0.14, 0.45)

  /// The inner corners of the scene of a seed.
  static func corners(seed: UInt64) -> (low: Vector3, high: Vector3) {
    var random = SeededRandom(seed: seed, "room")
    return corners { value, spread in random.uniform((value - spread)...(value + spread)) }
  }

  private static func corners(
    _ about: (_ value: Double, _ spread: Double) -> Double
  ) -> (low: Vector3, high: Vector3) {
    let high = Vector3(about(2.5, 0.1), about(2.6, 0.05), about(2.15, 0.1))
    let low = Vector3(about(-2.5, 0.1), 0, about(-2.15, 0.1))
    return (low, high)
  }

  /// A room of about 5 m × 2.6 m × 4.3 m with objects along its walls, which vary with the seed. No
  /// object is within a meter of `cameraCenter`, seen from above.
  ///
  /// Unfurnished it has only the six walls, so that visible points are given by formulas.
  static func made(seed: UInt64, isFurnished: Bool) -> Room {
    var random = SeededRandom(seed: seed, "room")
    func about(_ value: Double, _ spread: Double) -> Double {
      random.uniform((value - spread)...(value + spread))
    }
    let (low, high) = corners(about)
    let plaster = Material(.plaster, dark: (0.35, 0.32, 0.28), light: (0.86, 0.83, 0.76))
    let paper = Material(.stripes, dark: (0.32, 0.40, 0.38), light: (0.80, 0.82, 0.70))
    let bricks = Material(.bricks, dark: (0.42, 0.16, 0.10), light: (0.80, 0.66, 0.58))
    let floor = Material(.planks, dark: (0.22, 0.12, 0.06), light: (0.78, 0.56, 0.34))
    let ceiling = Material(
      .plaster, dark: (0.5, 0.5, 0.5), light: (0.95, 0.95, 0.92), texelsPerMeter: 256)
    let walls = [bricks, plaster, floor, ceiling, paper, plaster]
    var room = Room(
      low: low, high: high, walls: walls,
      lamps: [
        Lamp(position: SIMD3(Float(about(-0.8, 0.3)), 2.4, Float(about(0.4, 0.3))), power: 1.5),
        Lamp(position: SIMD3(Float(about(1.4, 0.3)), 2.1, Float(about(-1.0, 0.3))), power: 0.9),
      ],
      textures: TextureSet(
        seed: seed,
        isFurnished ? Set(TexturePattern.allCases) : Set(walls.map(\.texture))))

    guard isFurnished else { return room }

    let wood = Material(.planks, dark: (0.30, 0.18, 0.09), light: (0.88, 0.70, 0.46))
    let cloth = Material(.carpet, dark: (0.08, 0.16, 0.34), light: (0.40, 0.54, 0.78))
    let enamel = Material(.tiles, dark: (0.40, 0.42, 0.44), light: (0.90, 0.92, 0.94))
    let books = Material(.books, dark: (0.10, 0.07, 0.05), light: (0.86, 0.42, 0.22))
    let spines = Material(.books, dark: (0.05, 0.08, 0.12), light: (0.36, 0.74, 0.66))
    let poster = Material(.poster, dark: (0.62, 0.10, 0.16), light: (0.96, 0.86, 0.30))
    let print = Material(.poster, dark: (0.06, 0.14, 0.40), light: (0.74, 0.90, 0.96))

    // A table with four legs at the wall +x, with objects on it.
    let table = Vector3(high.x - 0.55, 0, about(0.3, 0.15))
    room.add(center: table + Vector3(0, 0.72, 0), half: Vector3(0.42, 0.02, 0.75), material: wood)
    for (x, z) in [(-0.37, -0.7), (-0.37, 0.7), (0.37, -0.7), (0.37, 0.7)] {
      room.add(
        center: table + Vector3(x, 0.35, z), half: Vector3(0.025, 0.35, 0.025), material: wood)
    }
    room.add(
      center: table + Vector3(0.05, 0.86, about(-0.35, 0.1)), half: Vector3(0.11, 0.12, 0.16),
      turned: about(0.4, 0.3), material: enamel)
    room.addBall(
      center: table + Vector3(-0.1, 0.87, about(0.35, 0.1)), radius: 0.13, material: poster)

    // A shelf of books at the wall −z.
    let shelf = Vector3(about(-1.3, 0.2), 0, low.z + 0.16)
    room.add(
      center: shelf + Vector3(0, 0.95, 0), half: Vector3(0.5, 0.95, 0.15),
      materials: [wood, wood, wood, wood, books, books])
    room.add(
      center: shelf + Vector3(0.72, 0.45, 0.02), half: Vector3(0.2, 0.45, 0.17),
      materials: [wood, wood, wood, wood, spines, spines])

    // A sofa and a cabinet at the wall −x, a bench at +z, a stool with a ball.
    let sofa = Vector3(low.x + 0.45, 0, about(0.6, 0.2))
    room.add(center: sofa + Vector3(0, 0.22, 0), half: Vector3(0.42, 0.22, 0.8), material: cloth)
    room.add(
      center: sofa + Vector3(-0.3, 0.62, 0), half: Vector3(0.12, 0.2, 0.8), material: cloth)
    room.add(
      center: Vector3(low.x + 0.3, 0.6, low.z + 0.75), half: Vector3(0.28, 0.6, 0.32),
      turned: about(0.1, 0.08), material: enamel)
    let bench = Vector3(about(0.5, 0.3), 0, high.z - 0.35)
    room.add(center: bench + Vector3(0, 0.25, 0), half: Vector3(0.7, 0.25, 0.28), material: wood)
    room.add(
      center: bench + Vector3(about(-0.2, 0.2), 0.66, 0.05), half: Vector3(0.15, 0.16, 0.12),
      turned: about(0.5, 0.4), material: print)
    let stool = Vector3(about(1.2, 0.1), 0, low.z + 0.7)
    room.add(
      center: stool + Vector3(0, 0.22, 0), half: Vector3(0.2, 0.22, 0.2), turned: about(0.6, 0.3),
      material: cloth)
    room.addBall(center: stool + Vector3(0, 0.62, 0), radius: 0.18, material: print)

    // Pictures in front of the walls.
    room.add(
      center: Vector3(high.x - 0.01, 1.5, about(0.4, 0.2)), half: Vector3(0.01, 0.3, 0.45),
      material: poster)
    room.add(
      center: Vector3(about(0.9, 0.2), 1.55, low.z + 0.01), half: Vector3(0.4, 0.3, 0.01),
      material: print)
    return room
  }
}

/// The appearance of a surface: two colors mixed by a texture.
struct Material {
  /// Red, green, blue 0…1 under full light; the fourth lane is unused.
  var dark: SIMD4<Float>
  var light: SIMD4<Float>
  var texture: TexturePattern
  var texelsPerMeter: Float

  init(
    _ texture: TexturePattern, dark: (Float, Float, Float), light: (Float, Float, Float),
    texelsPerMeter: Float = 512
  ) {
    self.texture = texture
    self.dark = SIMD4(dark.0, dark.1, dark.2, 0)
    self.light = SIMD4(light.0, light.1, light.2, 0)
    self.texelsPerMeter = texelsPerMeter
  }
}

/// The patterns that textures are made of.
enum TexturePattern: Int, CaseIterable {
  case plaster
  case planks
  case carpet
  case bricks
  case tiles
  case stripes
  case poster
  case books
}

/// One visible face: its texture coordinates and material.
struct Surface {
  enum Shape {
    case plane
    /// Center of the sphere; normals point away from it.
    case sphere(SIMD3<Float>)
  }

  var shape: Shape
  /// A point of the face, world axes, meters.
  var origin: SIMD3<Float>
  /// Directions of the texture's columns and rows, unit length.
  var along: SIMD3<Float>
  var down: SIMD3<Float>
  /// Unit length, toward the visible side.
  var normal: SIMD3<Float>
  var material: Material
}

/// A box in the room, rotated about the vertical.
struct Block {
  var center: Vector3
  /// Half of its side lengths, meters.
  var half: Vector3
  /// The box's own axes to world axes.
  var worldFromBlock: Matrix3
  /// Index of its first surface: faces −x, +x, −y, +y, −z, +z.
  var firstSurface: Int
}

struct Ball {
  var center: Vector3
  var radius: Double
  var surface: Int
}

/// A point light without shadows.
struct Lamp {
  var position: SIMD3<Float>
  /// Brightness at a distance of one meter.
  var power: Float
}
