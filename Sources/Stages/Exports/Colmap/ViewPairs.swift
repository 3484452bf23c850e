import Core
import Engine

/// `pairs.txt`: pictures that show the same surfaces, for COLMAP's `matches_importer` and for models that take pairs.
enum ViewPairs {
  static let name = "pairs.txt"

  static let parameter = Parameter(
    "pairs", .integer(0...1000), default: 0,
    "Also pairs.txt, two names a line: each picture with so many others that share most of its surfaces; needs depth."
  ).added()

  /// Less than this share of what a picture shows is no overlap.
  private static let leastShare = 0.1
  /// Frames that are compared beside neighbors: every n-th, so that there are at most so many.
  private static let mostOthers = 512
  private static let neighbors = 16

  /// What a frame shows, on a coarse grid.
  private struct View: Sendable {
    static let (columns, rows, pointStep) = (32, 24, 4)

    var lens: LensCamera
    var cameraFromWorld: RigidTransform
    /// Millimeters, by rows.
    var depth: [UInt16]
    /// Of every fourth row and column, in the world.
    var points: [[Double]]

    init?(_ source: ExportSource, _ frame: Int) throws {
      guard let camera = source.cameras[frame], let pose = source.pose(frame),
        source.depth?.has(frame) == true, let picture = try source.depth?.depth(frame)
      else { return nil }
      lens = LensCamera(
        pinhole: camera.scaled(toWidth: picture.width, height: picture.height),
        distortion: source.cameras.distortion ?? .none)
      cameraFromWorld = pose.cameraFromWorld
      (depth, points) = ([], [])
      for row in 0..<Self.rows {
        for column in 0..<Self.columns {
          let u = (2 * column + 1) * picture.width / (2 * Self.columns)
          let v = (2 * row + 1) * picture.height / (2 * Self.rows)
          let millimeters = picture.millimeters[v * picture.width + u]
          depth.append(millimeters)
          guard row % Self.pointStep == 0, column % Self.pointStep == 0, millimeters != 0,
            let ray = lens.ray(u: Double(u), v: Double(v))
          else { continue }
          let z = Double(millimeters) / 1000
          points.append(pose.worldFromCamera.apply(to: [ray.x * z, ray.y * z, z]))
        }
      }
    }

    /// The share of its points that `other` shows too: in its picture, and not behind what that shows there.
    func share(with other: View) -> Double {
      let seen = points.count { point in
        let at = other.cameraFromWorld.apply(to: point)
        guard let pixel = other.lens.projection(x: at[0], y: at[1], z: at[2]) else { return false }
        let column = (pixel.u + 0.5) / Double(other.lens.pinhole.width) * Double(Self.columns)
        let row = (pixel.v + 0.5) / Double(other.lens.pinhole.height) * Double(Self.rows)
        guard column >= 0, row >= 0, column < Double(Self.columns), row < Double(Self.rows) else {
          return false
        }
        let shown = Double(other.depth[Int(row) * Self.columns + Int(column)]) / 1000
        return shown != 0 && abs(shown - at[2]) <= 0.05 + 0.05 * at[2]
      }
      return points.isEmpty ? 0 : Double(seen) / Double(points.count)
    }
  }

  /// Writes pairs in the order of the frames, if they are asked for.
  ///
  /// Cost: decoding the depth of all frames, and for each frame at most 544 others with 48 points in both directions.
  /// Memory: some 5 KB a frame.
  static func write(
    _ source: ExportSource, _ frames: [Int], _ names: [String], _ folder: ExportFolder
  ) throws {
    let context = source.context
    let most = context.parameters[parameter]
    guard most > 0 else { return }
    let views = try concurrentMap(count: frames.count, budget: context.budget) { position in
      try context.cancellation.check()
      context.progress.showLife()
      return try View(source, frames[position])
    }
    let step = max(1, (frames.count + mostOthers - 1) / mostOthers)
    let best = try concurrentMap(count: frames.count, budget: context.budget) { position in
      try context.cancellation.check()
      context.progress.showLife()
      guard let view = views[position] else { return [Int]() }
      var others = Set(stride(from: 0, to: frames.count, by: step))
      others.formUnion(
        max(0, position - neighbors)...min(frames.count - 1, position + neighbors))
      let shares = others.compactMap { other -> (other: Int, share: Double)? in
        guard other != position, let shown = views[other] else { return nil }
        let share = min(view.share(with: shown), shown.share(with: view))
        return share >= leastShare ? (other, share) : nil
      }
      return shares.sorted { a, b in
        (b.share, abs(a.other - position), a.other) < (a.share, abs(b.other - position), b.other)
      }.prefix(most).map(\.other)
    }
    // Each once, in the order of the frames.
    let pairs = Set(
      best.enumerated().flatMap { position, others in
        others.map { [min(position, $0), max(position, $0)] }
      }
    ).sorted { $0.lexicographicallyPrecedes($1) }
    try folder.write(
      pairs.map { "\(names[$0[0]]) \(names[$0[1]])\n" }.joined(), as: name)
  }
}
