@testable import Core
import TestSupport
import Testing

@testable import Synthetic

@Suite("Surfaces that are found by their outlines")
struct OutlineTests {
  /// The nearest surface of one ray, with every object tried: slabs for walls and blocks, a quadratic
  /// equation for balls.
  private func hit(_ view: PreparedView, _ u: Int, _ v: Int) -> (depth: Double, surface: Int32) {
    let camera = view.camera
    let x = (Double(u) - camera.cx) * (1 / camera.fx)
    let y = (Double(v) - camera.cy) / camera.fy
    let turn = view.viewpoint.worldFromCamera
    let ray = turn.x * x + (turn.y * y + turn.z)
    var depth = Double.infinity
    var surface: Int32 = 0
    for axis in 0..<3 {
      let wall = (ray[axis] < 0 ? view.low[axis] : view.high[axis]) / ray[axis]
      if wall < depth { (depth, surface) = (wall, Int32(2 * axis + (ray[axis] < 0 ? 0 : 1))) }
    }
    for block in view.blocks {
      let direction = block.turn.x * x + (block.turn.y * y + block.turn.z)
      var enters = -Double.infinity
      var leaves = Double.infinity
      var face: Int32 = 0
      for axis in 0..<3 {
        let inverse = 1 / direction[axis]
        let near = (block.half[axis] * -1 - block.origin[axis]) * inverse
        let far = (block.half[axis] - block.origin[axis]) * inverse
        let isReversed = inverse < 0
        if (isReversed ? far : near) > enters {
          (enters, face) = (isReversed ? far : near, Int32(2 * axis + (isReversed ? 1 : 0)))
        }
        leaves = min(leaves, isReversed ? near : far)
      }
      if enters <= leaves, enters > 0, enters < depth {
        (depth, surface) = (enters, block.firstSurface + face)
      }
    }
    for ball in view.balls {
      let a = x * x + y * y + 1
      let b = x * ball.center.x + y * ball.center.y + ball.center.z
      let rest = ball.center.dot(ball.center) - ball.radius * ball.radius
      let discriminant = b * b - a * rest
      guard discriminant > 0 else { continue }
      let there = (b - discriminant.squareRoot()) / a
      if there > 0, there < depth { (depth, surface) = (there, ball.surface) }
    }
    return (depth, surface)
  }

  /// Rows whose depth or surface differs from that of rays that are cast one by one.
  private func differences(_ view: PreparedView) -> [Int] {
    let width = view.camera.width
    var depths = [Double](repeating: 0, count: width)
    var surfaces = [Int32](repeating: 0, count: width)
    return (0..<view.camera.height).filter { row in
      var depthSpan = depths.mutableSpan
      var surfaceSpan = surfaces.mutableSpan
      view.castRow(row, depths: &depthSpan, surfaces: &surfaceSpan)
      return (0..<width).contains { column in
        let expected = hit(view, column, row)
        return depths[column] != expected.depth || surfaces[column] != expected.surface
      }
    }
  }

  @Test(
    "From anywhere in a room, in every direction, every pixel is as if its ray met every object")
  func anywhere() {
    var random = SeededRandom(seed: 1, "viewpoints")
    let rooms = (0..<5).map { Room.made(seed: $0, isFurnished: true) }
    for number in 0..<Rounds.of(60, soak: 3000) {
      let room = rooms[number % 5]
      // Also inside of objects and close to walls, and level with the tops of tables.
      let position = Vector3(
        random.uniform(room.low.x + 0.01...room.high.x - 0.01),
        number % 4 == 0 ? 0.74 : random.uniform(0.01...room.high.y - 0.01),
        random.uniform(room.low.z + 0.01...room.high.z - 0.01))
      let turn =
        Matrix3.aboutY(random.uniform(0...6.3)) * Matrix3.aboutX(random.uniform(-1.6...1.6))
        * Matrix3.aboutZ(number % 3 == 0 ? 0 : random.uniform(0...6.3))
      let focal = random.uniform(20...200)
      let camera = PinholeCamera(
        width: 61, height: 43, fx: focal, fy: focal * random.uniform(0.9...1.1),
        cx: random.uniform(20...40), cy: random.uniform(15...30))
      let view = PreparedView(
        room: room, camera: camera,
        viewpoint: Viewpoint(position: position, worldFromCamera: turn))
      let wrong = differences(view)
      #expect(wrong.isEmpty, "view \(number), rows \(wrong)")
    }
  }

  @Test("Axes of the room and of the camera may be the same, and the camera in the plane of a face")
  func aligned() {
    var room = Room.made(seed: 1, isFurnished: false)
    let material = Material(.plaster, dark: (0, 0, 0), light: (1, 1, 1))
    room.add(center: Vector3(0.5, 1, -1), half: Vector3(0.5, 0.25, 0.25), material: material)
    // Its top is level with the camera, its left side straight ahead.
    room.add(
      center: Vector3(0.25, 1.25, -1.5), half: Vector3(0.25, 0.25, 0.125), material: material)
    for turn in [Matrix3.identity, Matrix3.aboutY(.pi), Matrix3.aboutX(.pi)] {
      let camera = PinholeCamera(width: 64, height: 64, fx: 32, fy: 32, cx: 31.5, cy: 31.5)
      for position in [Vector3(0, 1.5, 0.5), Vector3(0.5, 1, 0.5), Vector3(0.01, 1.51, 1)] {
        let wrong = differences(
          PreparedView(
            room: room, camera: camera,
            viewpoint: Viewpoint(position: position, worldFromCamera: turn)))
        #expect(wrong.isEmpty, "from \(position), rows \(wrong)")
      }
    }
  }
}
