import Core
import Engine

/// `pairs.txt`: pictures that show the same surfaces, for COLMAP's `matches_importer` and for models that take pairs.
enum ViewPairs {
  static let name = "pairs.txt"

  static let parameter = Parameter(
    "pairs", .integer(0...1000), default: 0,
    "Also pairs.txt, two names a line: each picture with so many others that share most of its surfaces; needs depth."
  ).added()

  /// Two pictures overlap if each shows at least this share of what the other shows.
  private static let leastShare = 0.1
  /// A frame is compared with its neighbors on both sides, and with every n-th frame: at most this many.
  private static let mostOthers = 512
  private static let neighbors = 16

  /// The depth of a frame on a coarse grid.
  private struct View {
    static let (columns, rows, pointStep) = (32, 24, 4)

    var lens: LensCamera
    var cameraFromWorld: RigidTransform
    /// Millimeters, by rows.
    var depth: [UInt16]
    /// The surface points at every fourth row and column, in the world: x, y, z of one behind those of the other.
    var points: [Double]

    init?(_ source: ExportSource, _ frame: Int) throws {
      guard let camera = source.cameras[frame], let pose = source.pose(frame),
        let depth = source.depth, depth.has(frame)
      else { return nil }
      let picture = try depth.depth(frame)
      lens = LensCamera(
        pinhole: camera.scaled(toWidth: picture.width, height: picture.height),
        distortion: source.cameras.distortion ?? .none)
      cameraFromWorld = pose.cameraFromWorld
      (self.depth, points) = ([], [])
      for row in 0..<Self.rows {
        for column in 0..<Self.columns {
          let u = (2 * column + 1) * picture.width / (2 * Self.columns)
          let v = (2 * row + 1) * picture.height / (2 * Self.rows)
          let millimeters = picture.millimeters[v * picture.width + u]
          self.depth.append(millimeters)
          guard row % Self.pointStep == 0, column % Self.pointStep == 0, millimeters != 0,
            let ray = lens.ray(u: Double(u), v: Double(v))
          else { continue }
          let z = Double(millimeters) / 1000
          points += pose.worldFromCamera.apply(to: [ray.x * z, ray.y * z, z])
        }
      }
    }

    /// The share of its points that the other picture shows: inside its borders, and no nearer surface hides them there.
    func share(with other: View) -> Double {
      let seen = stride(from: 0, to: points.count, by: 3).count { place in
        let at = other.cameraFromWorld.apply(to: Array(points[place..<place + 3]))
        guard let pixel = other.lens.projection(x: at[0], y: at[1], z: at[2]) else { return false }
        let column = (pixel.u + 0.5) / Double(other.lens.pinhole.width) * Double(Self.columns)
        let row = (pixel.v + 0.5) / Double(other.lens.pinhole.height) * Double(Self.rows)
        guard column >= 0, row >= 0, column < Double(Self.columns), row < Double(Self.rows) else {
          return false
        }
        let shown = Double(other.depth[Int(row) * Self.columns + Int(column)]) / 1000
        return shown != 0 && abs(shown - at[2]) <= 0.05 + 0.05 * at[2]
      }
      return points.isEmpty ? 0 : Double(3 * seen) / Double(points.count)
    }

    /// The smaller one of the shares of both; 0 if it is below `leastShare`.
    func overlap(_ other: View) -> Double {
      let share = share(with: other)
      guard share >= leastShare else { return 0 }
      let back = other.share(with: self)
      return back < leastShare ? 0 : min(share, back)
    }
  }

  /// Writes pairs in the order of the frames.
  ///
  /// Cost: decoding the depth of all frames, and for each frame 48 points in at most 544 others. Memory: some 3 KB a
  /// frame.
  ///
  /// - Returns: the number of pairs; `nil` without a file: none are asked for, or no frame has depth.
  static func write(
    _ source: ExportSource, _ frames: [Int], _ names: [String], _ folder: ExportFolder
  ) throws -> Int? {
    let context = source.context
    let most = context.parameters[parameter]
    guard most > 0 else { return nil }
    let views = try concurrentMap(count: frames.count, budget: context.budget) { position in
      try context.cancellation.check()
      context.progress.showLife()
      return try View(source, frames[position])
    }
    guard views.contains(where: { $0 != nil }) else { return nil }
    let step = max(1, (frames.count + mostOthers - 1) / mostOthers)
    let best = try concurrentMap(count: frames.count, budget: context.budget) { position in
      try context.cancellation.check()
      context.progress.showLife()
      guard let view = views[position] else { return [Int]() }
      var others = Set(stride(from: 0, to: frames.count, by: step))
      others.formUnion(
        max(0, position - neighbors)...min(frames.count - 1, position + neighbors))
      let shares = others.compactMap { other -> (other: Int, share: Double)? in
        guard other != position, let share = views[other]?.overlap(view), share > 0 else {
          return nil
        }
        return (other, share)
      }
      return shares.sorted { a, b in
        (b.share, abs(a.other - position), a.other) < (a.share, abs(b.other - position), b.other)
      }.prefix(most).map(\.other)
    }
    let pairs = Set(
      best.enumerated().flatMap { position, others in
        others.map { [min(position, $0), max(position, $0)] }
      }
    ).sorted { $0.lexicographicallyPrecedes($1) }
    try folder.write(
      pairs.map { "\(names[$0[0]]) \(names[$0[1]])\n" }.joined(), as: name)
    return pairs.count
  }

  /// Adds what `README.txt` says, if pairs are asked for.
  static func describe(_ pairs: Int?, _ parameters: ParameterValues, _ readme: inout ExportReadme) {
    guard parameters[parameter] > 0 else { return }
    if let pairs {
      readme.conventions.append(
        "\(name): \(Plural.text(pairs, "pair")) of pictures that share at least a tenth of what each shows, by poses "
          + "and depth (colmap matches_importer --match_list_path \(name) --match_type pairs).")
    } else {
      readme.remarks.append("There is no \(name): no exported frame has depth on the color grid.")
    }
  }
}
