import Core
import Engine
import Media

/// A point of a surface, with its color.
struct StartPoint: Hashable {
  /// Meters; never `-0`, so that text and binary forms agree.
  var x: Double
  var y: Double
  var z: Double
  var red: UInt8
  var green: UInt8
  var blue: UInt8
}

/// Start points for radiance fields: depth on the color grid, with the colors of the same pixels.
///
/// Taken from every 10th exported frame that has depth, every 8th row and column, with lens
/// distortion removed, and where a mask is not 0. Depth is read twice: points are counted first, because their number precedes
/// them in the files and determines how they are thinned. Memory: one depth and one color picture
/// per core. The bytes are the same for any number of cores.
struct StartPoints {
  static let frameStep = 10
  static let pixelStep = 8

  private let source: ExportSource
  private let worldFromApp: RigidTransform
  /// Frames from which points are taken, in order.
  private let frames: [Int]
  /// By index in `frames`: number of measured points of the earlier frames.
  private let before: [Int]
  private let thinning: EvenThinning

  /// Number of points.
  var count: Int { thinning.kept }

  /// - Parameters:
  ///   - exported: frames with pose and intrinsics, ascending.
  ///   - limit: largest number of points, thinned evenly in order; with 0 no file is read.
  ///   - worldFromApp: the transform to the export's world.
  ///
  /// Cost: decoding every 10th depth picture.
  init(
    _ source: ExportSource, _ exported: [Int], limit: Int, worldFromApp: RigidTransform = .identity
  ) throws {
    self.source = source
    self.worldFromApp = worldFromApp
    let measured = limit > 0 ? exported.filter { source.depth?.has($0) == true } : []
    frames = stride(from: 0, to: measured.count, by: Self.frameStep).map { measured[$0] }
    let frames = frames
    let counts = try concurrentMap(count: frames.count, budget: source.context.budget) { index in
      try source.context.cancellation.check()
      source.context.progress.showLife()
      var count = 0
      try Self.forEachMeasured(source, frames[index]) { _, _, _ in count += 1 }
      return count
    }
    var sum = 0
    before = counts.map { count in
      defer { sum += count }
      return sum
    }
    thinning = EvenThinning(total: sum, limit: limit)
  }

  /// Whether a `float` is too coarse for the coordinates: above 1 km its error reaches a tenth of a
  /// millimeter.
  var isFarAway: Bool {
    frames.contains { frame in
      source.pose(frame)?.position.contains { abs($0) > 1000 } ?? false
    }
  }

  /// Calls `body` with the points in order, in one array per frame.
  func forEachList(_ body: ([StartPoint]) throws -> Void) throws {
    let context = source.context
    for start in stride(from: 0, to: frames.count, by: max(1, context.workers)) {
      try context.cancellation.check()
      let batch = start..<min(start + max(1, context.workers), frames.count)
      let lists = try concurrentMap(count: batch.count, budget: context.budget) { index in
        context.progress.showLife()
        return try points(batch.lowerBound + index)
      }
      for list in lists { try body(list) }
    }
  }

  private func points(_ position: Int) throws -> [StartPoint] {
    let frame = frames[position]
    var k = thinning.firstKept(from: before[position])
    let end = position + 1 < before.count ? before[position + 1] : thinning.total
    var wanted = thinning.position(of: k)
    guard wanted < end, let pose = source.pose(frame), let pictures = source.pictures else {
      return []
    }
    let picture = try pictures.color(frame)
    let worldFromCamera = worldFromApp * pose.worldFromCamera
    var number = before[position]
    var points: [StartPoint] = []
    try Self.forEachMeasured(source, frame, sizeOf: picture) { pixel, ray, z in
      defer { number += 1 }
      guard number == wanted else { return }
      k += 1
      wanted = thinning.position(of: k)
      let point = worldFromCamera.apply(to: [ray.x * z, ray.y * z, z])
      points.append(
        StartPoint(
          x: point[0] + 0, y: point[1] + 0, z: point[2] + 0, red: picture.rgb[3 * pixel],
          green: picture.rgb[3 * pixel + 1], blue: picture.rgb[3 * pixel + 2]))
    }
    return points
  }

  /// Calls `body` for every 8th pixel of every 8th row that has a depth and a ray: its index in the
  /// color picture, the ray's point at z = 1, and its depth in meters. Steps are pixels of color,
  /// whatever the grid of depth.
  private static func forEachMeasured(
    _ source: ExportSource, _ frame: Int, sizeOf picture: ColorImage? = nil,
    _ body: (_ pixel: Int, _ ray: (x: Double, y: Double), _ z: Double) -> Void
  ) throws {
    guard let camera = source.cameras[frame], let depth = try source.depth?.depth(frame) else {
      return
    }
    if let picture, (picture.width, picture.height) != (camera.width, camera.height) {
      throw StageFailure(
        "frame \(frame): the picture has \(picture.width)x\(picture.height) pixels, its camera "
          + "\(camera.width)x\(camera.height): run '\(source.pictures?.stage ?? "color")' again")
    }
    // On another grid, depth is that of the same camera with that grid.
    let isOnColor = (camera.width, camera.height) == (depth.width, depth.height)
    guard isOnColor || source.isDepthOnOtherGrid else {
      throw StageFailure(
        "frame \(frame): depth on the color grid has \(depth.width)x\(depth.height) pixels, color "
          + "\(camera.width)x\(camera.height): run '\(source.depth?.stage ?? "aligned")' again")
    }
    let mask = try source.masks?.gray(frame)
    if let mask, (mask.width, mask.height) != (camera.width, camera.height) {
      throw StageFailure(
        "frame \(frame): the mask has \(mask.width)x\(mask.height) pixels, the picture "
          + "\(camera.width)x\(camera.height): run '\(source.masks?.stage ?? "masks")' again")
    }
    let lens = LensCamera(
      pinhole: isOnColor
        ? camera : camera.scaled(toWidth: depth.width, height: depth.height),
      distortion: source.cameras.distortion ?? .none)
    let step = max(1, pixelStep * depth.width / max(1, camera.width))
    for row in stride(from: 0, to: depth.height, by: step) {
      for column in stride(from: 0, to: depth.width, by: step) {
        let millimeters = depth.millimeters[row * depth.width + column]
        guard millimeters != 0, let ray = lens.ray(u: Double(column), v: Double(row)),
          ray.x.isFinite, ray.y.isFinite
        else { continue }
        // The pixel of color at the center of that of depth.
        let pixel =
          isOnColor
          ? row * depth.width + column
          : (2 * row + 1) * camera.height / (2 * depth.height) * camera.width
            + (2 * column + 1) * camera.width / (2 * depth.width)
        if mask?.values[pixel] == 0 { continue }
        body(pixel, ray, Double(millimeters) / 1000)
      }
    }
  }
}

/// Thins a sequence evenly: the kept item k is item ⌊k · total / kept⌋.
struct EvenThinning: Hashable {
  let total: Int
  /// Number of kept items.
  let kept: Int

  /// - Parameter limit: largest number to keep; 0 keeps none.
  init(total: Int, limit: Int) {
    self.total = max(0, total)
    kept = min(self.total, max(0, limit))
  }

  /// Index of the kept item `k`; `Int.max` after the last.
  func position(of k: Int) -> Int {
    guard k < kept else { return .max }
    // The product may overflow 64 bits.
    return Int(Int128(k) * Int128(total) / Int128(kept))
  }

  /// The first kept item at or after index `position`.
  func firstKept(from position: Int) -> Int {
    guard total > 0 else { return 0 }
    let (quotient, rest) = (Int128(position) * Int128(kept)).quotientAndRemainder(
      dividingBy: Int128(total))
    return Int(quotient) + (rest == 0 ? 0 : 1)
  }
}
