import Core
import Media
import SystemPackage

/// Writes what the world was like beside a capture, frame by frame.
///
/// | file | content |
/// | --- | --- |
/// | `expected.json` | what a reader must find: counts, times, digests of depth in millimeters, warnings |
/// | `truth.json` | how the capture was made: options, seed, faults, cameras, extrinsics |
/// | `color_poses.csv`, `depth_poses.csv` | exact pose of the color camera at the time of each picture and of each depth frame: `frame,timestamp_ns,tx,ty,tz,qx,qy,qz,qw`, camera to world, OpenCV axes, world y up |
/// | `depth/000000.png` | exact depth in the depth camera, 16 bits, millimeters, without noise, holes and quantization |
/// | `aligned/000000.png` | exact depth along the color camera's axis at the time of the depth frame, on the color grid |
struct TruthWriter {
  private let folder: FilePath
  private let rig: Rig
  /// Frames with pictures.
  private let pictured: Set<Int>
  private var png = PNGWriter(compression: .compact)
  private var alignedRenderer: DepthRenderer?
  private var colorPoses: TableFile
  private var depthPoses: TableFile
  private let frames: Int
  private let progress: (@Sendable (_ done: Int, _ all: Int) -> Void)?
  /// Frames of which something was recorded.
  private var done = 0
  private static let columns = [
    "frame", "timestamp_ns", "tx", "ty", "tz", "qx", "qy", "qz", "qw",
  ]

  /// `pictures` frames, spread evenly from the first to the last, get pictures. `progress` is told of
  /// each frame that is recorded.
  init(
    folder: FilePath, rig: Rig, frames: Int, pictures: Int,
    progress: (@Sendable (_ done: Int, _ all: Int) -> Void)? = nil
  ) throws(FileError) {
    self.folder = folder
    self.rig = rig
    self.frames = frames
    self.progress = progress
    let last = max(0, frames - 1)
    let count = min(pictures, frames)
    pictured = Set((0..<max(0, count)).map { count == 1 ? 0 : last * $0 / (count - 1) })
    colorPoses = try TableFile(folder.appending("color_poses.csv"), Self.columns)
    depthPoses = try TableFile(folder.appending("depth_poses.csv"), Self.columns)
  }

  mutating func recordColor(frame: Int, nanoseconds: Int64, state: MotionState) throws {
    try Self.append(frame, nanoseconds, state, to: &colorPoses)
    tell(frame)
  }

  /// - Parameters:
  ///   - exact: the rendered depth of the frame.
  ///   - color: the color camera of the frame, if it differs from the rig's.
  mutating func recordDepth(
    frame: Int, nanoseconds: Int64, state: MotionState, exact: DepthRenderer,
    color: PinholeCamera? = nil
  ) throws {
    try Self.append(frame, nanoseconds, state, to: &depthPoses)
    tell(frame)
    guard pictured.contains(frame) else { return }
    try write(exact.millimeters, as: "depth", frame: frame)
    var renderer = alignedRenderer ?? DepthRenderer(room: rig.room, camera: rig.color)
    renderer.camera = color ?? rig.color
    renderer.render(state.viewpoint())
    try write(renderer.millimeters, as: "aligned", frame: frame)
    alignedRenderer = renderer
  }

  /// Completes the tables and writes both documents.
  mutating func finish(expected: JSONObject, truth: JSONObject) throws {
    try colorPoses.finish()
    try depthPoses.finish()
    try OutputFile.write(expected.bytes(), to: folder.appending("expected.json"))
    try OutputFile.write(truth.bytes(pretty: true), to: folder.appending("truth.json"))
  }

  /// Tells of a frame once, also where its picture and its depth are recorded.
  private mutating func tell(_ frame: Int) {
    guard frame >= done else { return }
    done = frame + 1
    // Some faults have more pictures than frames.
    progress?(done, max(frames, done))
  }

  private mutating func write(_ image: DepthImage, as name: String, frame: Int) throws {
    let place = folder.appending(name)
    try FileSystem.makeFolder(place)
    let file = "\(frame.padded(6)).png"
    try OutputFile.write(png.encode(image), to: place.appending(file))
  }

  private static func append(
    _ frame: Int, _ nanoseconds: Int64, _ state: MotionState, to table: inout TableFile
  ) throws {
    guard let pose = state.pose else { return }
    let q = pose.orientation
    try table.append([frame, nanoseconds] + pose.position + [q.x, q.y, q.z, q.w])
  }
}

/// Sums the warnings that a reader must report.
struct WarningTally {
  private struct Key: Hashable {
    var code: String
    var subject: String?
  }

  /// Whether the subjects of warnings are stated; otherwise a code counts for all of them together.
  let namesSubjects: Bool
  private var counts: [Key: Int] = [:]

  init(namesSubjects: Bool = true) { self.namesSubjects = namesSubjects }

  /// A count of 0 adds no entry.
  mutating func add(_ code: String, of subject: String? = nil, _ count: Int = 1) {
    guard count > 0 else { return }
    counts[Key(code: code, subject: namesSubjects ? subject : nil), default: 0] += count
  }

  /// Adds one if it is there.
  mutating func add(_ code: String, of subject: String? = nil, _ isThere: Bool) {
    add(code, of: subject, isThere ? 1 : 0)
  }

  /// Adds the steps between neighboring frames that both have a time.
  mutating func addSteps(_ times: [Int64?], gapFactor: Double = 1.5) {
    let steps = TimeStepCount(times, gapFactor: gapFactor)
    add("frame-gap", of: "frames", steps.gaps)
    add("timestamps-duplicate", of: "frames", steps.repeated)
    add("timestamps-unordered", of: "frames", steps.backward)
  }

  /// Adds the items that each stream has more or fewer than expected; `nil` for a stream that is not counted.
  mutating func addLengths(_ streams: [(name: String, count: Int?)], expected: Int) {
    for (name, count) in streams {
      if let count { add("frame-count-mismatch", of: name, abs(count - expected)) }
    }
  }

  /// Adds the difference of both streams; none where one is not counted.
  mutating func addDifference(color: Int?, depth: Int?) {
    guard let color, let depth else { return }
    add("color-shorter-than-depth", of: "color", depth - color)
    add("depth-shorter-than-color", of: "depth", color - depth)
  }

  /// Sums by code.
  var entries: [ExpectedWarning] {
    var sums: [String: Int] = [:]
    for (key, count) in counts { sums[key.code, default: 0] += count }
    return sums.sorted { $0.key < $1.key }.map { ExpectedWarning(code: $0.key, count: $0.value) }
  }

  /// By code and subject.
  var json: [JSONObject] {
    let sorted = counts.sorted {
      ($0.key.code, $0.key.subject ?? "") < ($1.key.code, $1.key.subject ?? "")
    }
    return sorted.map { key, count in
      var members: JSONObject = ["code": key.code, "count": count]
      if let subject = key.subject { members["subject"] = subject }
      return members
    }
  }
}

/// Counts steps of a series of times as the format pages define them.
struct TimeStepCount {
  /// Above `factor` times the median step.
  private(set) var gaps = 0
  private(set) var repeated = 0
  private(set) var backward = 0

  /// Steps are those between neighbors that both have a time.
  init(_ times: [Int64?], gapFactor: Double) {
    let steps = zip(times.dropFirst(), times).compactMap { later, earlier -> Int64? in
      guard let later, let earlier else { return nil }
      return later - earlier
    }
    guard !steps.isEmpty else { return }
    let sorted = steps.sorted()
    let middle = Double(sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    gaps = steps.count { Double($0) > gapFactor * middle }
    repeated = steps.count { $0 == 0 }
    backward = steps.count { $0 < 0 }
  }
}

/// The times that a reader must find, and what it must warn of, computed from a plan by the rules of the format.
struct Expectation {
  /// Times of the canonical frames; `nil` = empty cell.
  var frames: [Int64?] = []
  var color: [Int64?] = []
  var depth: [Int64?] = []
  var warnings = WarningTally()

  mutating func add(_ time: Int64?, hasColor: Bool, hasDepth: Bool) {
    frames.append(time)
    color.append(hasColor ? time : nil)
    depth.append(hasDepth ? time : nil)
  }

  var times: JSONObject { ["frame": frames, "color": color, "depth": depth] }
}
