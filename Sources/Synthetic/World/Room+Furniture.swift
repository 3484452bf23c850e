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
    var room = Room(
      low: low, high: high, walls: [bricks, plaster, floor, ceiling, paper, plaster],
      lamps: [
        Lamp(position: SIMD3(Float(about(-0.8, 0.3)), 2.4, Float(about(0.4, 0.3))), power: 1.5),
        Lamp(position: SIMD3(Float(about(1.4, 0.3)), 2.1, Float(about(-1.0, 0.3))), power: 0.9),
      ],
      textures: TextureSet(seed: seed))

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
