import Captures
import Core
import Engine

/// Writes `scene.json`: what loaders need to know of a scene before they read it, in the world of the export.
enum SceneFile {
  static let parameter = Parameter(
    "scene", .flag, default: false,
    "Also scene.json: bounds, center and scale, gravity, mean and deviation of color, range of depth, length of the "
      + "camera's path."
  ).added()

  /// What a frame contributes; whole numbers, so that sums do not depend on the order.
  private struct Sums {
    var values: [UInt64] = [0, 0, 0]
    var squares: [UInt64] = [0, 0, 0]
    var pixels: UInt64 = 0
    var depth: ClosedRange<UInt16>?
  }

  /// Writes nothing unless it is asked for. Color and depth are those of every 10th exported frame.
  ///
  /// Cost: decoding these, and the pictures of the start points once more.
  static func write(
    _ source: ExportSource, _ frames: [Int], _ points: StartPoints, worldFromApp: RigidTransform,
    _ folder: ExportFolder
  ) throws {
    let context = source.context
    guard context.parameters[parameter] else { return }
    let cameras = frames.compactMap(source.pose).map { worldFromApp.apply(to: $0.position) }
    guard let first = cameras.first else { return }
    var (low, high) = (first, first)
    func include(_ point: [Double]) {
      for axis in 0..<3 {
        low[axis] = min(low[axis], point[axis])
        high[axis] = max(high[axis], point[axis])
      }
    }
    cameras.forEach(include)
    try points.forEachList { list in
      for point in list { include([point.x, point.y, point.z]) }
    }
    let center = (0..<3).map { axis in
      cameras.reduce(0) { $0 + $1[axis] } / Double(cameras.count)
    }
    let reach = cameras.flatMap { zip($0, center).map { abs($0 - $1) } }.max() ?? 0
    let path = zip(cameras, cameras.dropFirst()).reduce(0.0) { sum, step in
      sum + zip(step.0, step.1).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    }

    let sampled = stride(from: 0, to: frames.count, by: StartPoints.frameStep).map { frames[$0] }
    let sums = try concurrentMap(count: sampled.count, budget: context.budget) { index in
      try context.cancellation.check()
      context.progress.showLife()
      return try Self.sums(of: sampled[index], source)
    }
    let depth = sums.compactMap(\.depth)
    let pixels = max(1, Double(sums.reduce(0) { $0 + $1.pixels }))
    let moments = (0..<3).map { channel in
      let mean = Double(sums.reduce(0) { $0 + $1.values[channel] }) / pixels / 255
      let square = Double(sums.reduce(0) { $0 + $1.squares[channel] }) / pixels / (255 * 255)
      return (mean: mean, deviation: max(0, square - mean * mean).squareRoot())
    }
    let down = source.world.down.map { worldFromApp.apply(to: $0).map { $0 + 0 } }
    func numbers(_ list: [Double]) -> JSONValue { .array(list.map(JSONValue.number)) }
    let object: [String: JSONValue] = [
      "schema": .integer(1), "unit": .string("m"), "cameras": .integer(Int64(cameras.count)),
      "sampledFrames": .integer(Int64(sampled.count)),
      "bounds": .object(["low": numbers(low), "high": numbers(high)]),
      "center": numbers(center), "scale": reach > 0 ? .number(1 / reach) : .null,
      "gravity": down.map(numbers) ?? .null,
      "color": .object([
        "mean": numbers(moments.map(\.mean)), "deviation": numbers(moments.map(\.deviation)),
      ]),
      "depth": depth.map(\.lowerBound).min().flatMap { low in
        depth.map(\.upperBound).max().map { numbers([Double(low) / 1000, Double($0) / 1000]) }
      } ?? .null,
      "cameraPath": .number(path),
    ]
    try folder.write(JSONText.pretty(JSONValue.object(object)), as: "scene.json")
  }

  private static func sums(of frame: Int, _ source: ExportSource) throws -> Sums {
    var sums = Sums()
    if let picture = try source.pictures?.look(frame) {
      for pixel in stride(from: 0, to: picture.rgb.count - 2, by: 3) {
        for channel in 0..<3 {
          let value = UInt64(picture.rgb[pixel + channel])
          sums.values[channel] += value
          sums.squares[channel] += value * value
        }
      }
      sums.pixels = UInt64(picture.rgb.count / 3)
    }
    if source.depth?.has(frame) == true, let depth = try source.depth?.depth(frame) {
      var low = UInt16.max
      var high: UInt16 = 0
      for millimeters in depth.millimeters where millimeters != 0 {
        low = min(low, millimeters)
        high = max(high, millimeters)
      }
      if high > 0 { sums.depth = low...high }
    }
    return sums
  }
}

extension PoseWorld {
  /// The direction of gravity; `nil` if it is not known.
  var down: [Double]? {
    switch self {
    case .yUp: [0, -1, 0]
    case .zUp: [0, 0, -1]
    case .firstCamera: nil
    }
  }
}
