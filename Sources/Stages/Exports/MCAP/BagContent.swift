import Captures
import Core
import Engine
import Processing

/// The content of a bag, chosen and counted; pictures stay in their files.
struct BagContent {
  let source: ExportSource
  let frames: ExportFrames
  /// Whether poses and intrinsics are written with the pictures.
  let hasCamera: Bool
  let imu: (rows: [SixAxisIMU.Row], leftOut: Int, cropped: Int)?
  /// The variances of samples along each axis, in the units of messages; 0 where no noise is given.
  let variances: (angularVelocity: Double, specificForce: Double)
  /// Only with the parameter `personal`.
  let fixes: [GeoPosition]
  let timeline: BagTimeline
  /// Number of exported frames without a depth message, by reason; empty without depth.
  let depthLeftOut: [SkippedExport: Int]

  /// - Throws: `StageDoesNotApply` when nothing has a time.
  init(_ source: ExportSource) throws {
    self.source = source
    let capture = source.context.capture
    hasCamera = capture.color.value?.isMirrored != true
    let frames = try Self.frames(source)
    self.frames = frames
    let recorded = Self.imu(source)
    imu = recorded.map { recorded in
      var rows = recorded.rows
      let cropped = IMUCrop(source, frames.frames)?.crop(&rows, time: \.timestamp) ?? 0
      return (rows, recorded.leftOut + cropped, cropped)
    }
    variances = try Self.variances(imu?.rows ?? [], source.context)
    fixes = Self.fixes(source)

    let pictured = source.pictures.map { frames.frames.filter($0.has) } ?? []
    let colors = Self.entries(pictured, source) { .color(frame: $0) }
    let posed = hasCamera ? frames.frames.filter { source.pose($0) != nil } : []
    let (depths, leftOut) = Self.depths(frames.frames, source)
    depthLeftOut = leftOut
    timeline = BagTimeline(
      poses: Self.entries(posed, source) { .pose(frame: $0) }, imu: imu?.rows ?? [],
      colors: colors, depths: depths,
      fixes: fixes.enumerated().map {
        BagTimeline.Entry(time: $0.element.timestamp, event: .fix($0.offset))
      })
    guard timeline.nextTime != nil else {
      throw StageDoesNotApply("nothing with a time: no picture, no IMU sample")
    }
  }

  /// Camera to world at a frame in the bag.
  func pose(_ frame: Int) -> Pose? { hasCamera ? source.pose(frame) : nil }

  func camera(_ frame: Int) -> PinholeCamera? { hasCamera ? source.cameras[frame] : nil }

  /// Transforms that are constant over the bag.
  var staticTransforms: [ROSMessage.Transform] {
    var transforms: [ROSMessage.Transform] = []
    // Without knowing what is up there is no frame whose z is.
    if !timeline.poses.isEmpty, source.world != .firstCamera {
      transforms.append(
        Self.transform(
          BagFrame.map, BagFrame.world, RigidTransform.worldFromApp(.z, of: source.world)))
    }
    if hasCamera, !timeline.imu.isEmpty {
      transforms.append(Self.transform(BagFrame.camera, BagFrame.imu, source.cameraFromIMU))
    }
    return transforms
  }

  /// The content of the bag, from which assumptions are determined.
  var stated: ExportContent {
    var stated = ExportContent(source, frames)
    stated.hasPictures = !timeline.colors.isEmpty
    stated.depth = timeline.depths.isEmpty ? .none : source.depthChoice
    stated.statesDepthTimes = true
    stated.cameras = hasCameraInfo ? .each : .none
    stated.poses = timeline.poses.isEmpty ? .none : .recorded
    stated.turnsWorld = source.world == .yUp
    if let imu, !imu.rows.isEmpty {
      stated.inertial = ExportContent.Inertial(
        isSpecificForce: true,
        interpolated: InertialExport.interpolated(imu.rows, source.context.capture.imu.value))
      stated.cameraToIMU = hasCamera ? "/tf_static (cam0 to imu0)" : nil
      if variances.angularVelocity == 0 || variances.specificForce == 0 {
        stated.covariances = "/imu0"
      }
    }
    if !fixes.isEmpty {
      stated.positions = ExportContent.Positions(
        hasAltitude: fixes.contains { $0.altitude != nil })
    }
    return stated
  }

  /// Whether any picture has intrinsics.
  var hasCameraInfo: Bool {
    (timeline.colors + timeline.depths).contains { entry in
      switch entry.event {
      case .color(let frame), .depth(let frame): camera(frame) != nil
      case .pose, .imu, .fix: false
      }
    }
  }

  private static func transform(
    _ parent: String, _ child: String, _ parentFromChild: RigidTransform
  ) -> ROSMessage.Transform {
    ROSMessage.Transform(
      parent: parent, child: child, translation: parentFromChild.translation,
      rotation: Quaternion(rotation: parentFromChild.rotation))
  }

  static func frames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, needs(source), times: ROSMessage.times, mayBeEmpty: true)
  }

  /// A frame whose picture is lost still has depth and a pose. Chosen frames are the same as in other formats: those
  /// with a picture; in captures without pictures, with depth, else with a pose.
  private static func needs(_ source: ExportSource) -> ExportNeeds {
    if !PickParameters.picks(source.context.parameters) { return [.content, .time] }
    if source.hasPictures { return [.picture, .time] }
    if source.depthChoice != .none { return [.depth, .time] }
    return [.pose, .time]
  }

  private static func imu(
    _ source: ExportSource
  ) -> (rows: [SixAxisIMU.Row], leftOut: Int)? {
    guard let stream = SixAxisIMU(source.context) else { return nil }
    let rows = stream.rows.filter { ROSMessage.times.contains($0.timestamp) }
    return (rows, stream.leftOut + stream.rows.count - rows.count)
  }

  /// Variances of single samples: squared noise densities times the rate of the samples.
  private static func variances(
    _ rows: [SixAxisIMU.Row], _ context: StageContext
  ) throws -> (angularVelocity: Double, specificForce: Double) {
    guard
      let noise = try context.externalFiles[ExportParameters.noiseFile.name].map(
        ExportParameters.noise),
      let hertz = noise.hertz
        ?? InertialExport.nominalHertz(rows.map(\.timestamp)).map(Double.init)
    else { return (0, 0) }
    func variance(_ key: String) -> Double {
      noise.densities[key].map { $0 * $0 * hertz } ?? 0
    }
    return (variance("gyroscope_noise_density"), variance("accelerometer_noise_density"))
  }

  private static func entries(
    _ frames: [Int], _ source: ExportSource, _ event: (Int) -> BagTimeline.Event
  ) -> [BagTimeline.Entry] {
    frames.compactMap { frame in
      source.time(frame).map { BagTimeline.Entry(time: $0, event: event(frame)) }
    }
  }

  /// Depth pictures have separate times, which need not increase where those of color do.
  private static func depths(
    _ frames: [Int], _ source: ExportSource
  ) -> (entries: [BagTimeline.Entry], leftOut: [SkippedExport: Int]) {
    guard let depth = source.depth else { return ([], [:]) }
    var entries: [BagTimeline.Entry] = []
    var leftOut: [SkippedExport: Int] = [:]
    for frame in frames {
      if !depth.has(frame) {
        leftOut[depth.isSkipped(frame) ? .notSelected : .noDepth, default: 0] += 1
      } else if let time = source.depthTime(frame), ROSMessage.times.contains(time) {
        if let last = entries.last, time <= last.time {
          leftOut[.timeNotIncreasing, default: 0] += 1
        } else {
          entries.append(BagTimeline.Entry(time: time, event: .depth(frame: frame)))
        }
      } else {
        leftOut[.noTime, default: 0] += 1
      }
    }
    return (entries, leftOut)
  }

  private static func fixes(_ source: ExportSource) -> [GeoPosition] {
    guard source.context.parameters[ExportParameters.personal],
      let geo = source.context.capture.geo.value
    else { return [] }
    var fixes: [GeoPosition] = []
    for position in geo.track.positions where ROSMessage.times.contains(position.timestamp) {
      if let last = fixes.last, position.timestamp <= last.timestamp { continue }
      fixes.append(position)
    }
    return fixes
  }
}

/// Names of ROS coordinate frames.
enum BagFrame {
  /// z up.
  static let map = "map"
  /// The app's world.
  static let world = "world"
  /// OpenCV axes, which are ROS's optical axes.
  static let camera = "cam0"
  static let imu = "imu0"
  static let position = "gps"
}

/// All messages of a bag merged by time. Nothing is copied: each stream has a read position.
struct BagTimeline {
  /// A message. Numbers are canonical frames, or indices in a table.
  enum Event: Hashable {
    case pose(frame: Int)
    case imu(Int)
    case color(frame: Int)
    case depth(frame: Int)
    case fix(Int)

    /// Whether a file must be read for it.
    var hasPicture: Bool {
      switch self {
      case .color, .depth: true
      case .pose, .imu, .fix: false
      }
    }
  }

  struct Entry: Hashable {
    var time: Timestamp
    var event: Event
  }

  /// Each stream's times strictly increase; at equal times the earlier stream comes first.
  var poses: [Entry] = []
  var imu: [SixAxisIMU.Row] = []
  var colors: [Entry] = []
  var depths: [Entry] = []
  var fixes: [Entry] = []
  /// The read position in each stream.
  private(set) var places = [0, 0, 0, 0, 0]

  /// The time of the next event; `nil` after the last.
  var nextTime: Timestamp? { next?.entry.time }

  /// The next events, up to `pictures` that read a file and 4096 in all. Empty at the end.
  mutating func batch(pictures: Int) -> [Entry] {
    var entries: [Entry] = []
    var files = 0
    while entries.count < 4096, let (stream, entry) = next {
      if entry.event.hasPicture {
        guard files < pictures else { break }
        files += 1
      }
      places[stream] += 1
      entries.append(entry)
    }
    return entries
  }

  private var next: (stream: Int, entry: Entry)? {
    var first: (stream: Int, entry: Entry)?
    for stream in 0..<places.count {
      guard let entry = entry(stream, places[stream]) else { continue }
      if let known = first, known.entry.time <= entry.time { continue }
      first = (stream, entry)
    }
    return first
  }

  private func entry(_ stream: Int, _ place: Int) -> Entry? {
    let entries: [Entry]
    switch stream {
    case 0: entries = poses
    case 1:
      return place < imu.count ? Entry(time: imu[place].timestamp, event: .imu(place)) : nil
    case 2: entries = colors
    case 3: entries = depths
    default: entries = fixes
    }
    return place < entries.count ? entries[place] : nil
  }
}
