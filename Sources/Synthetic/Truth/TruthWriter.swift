import Media
import Core
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
  private var colorPoses: CSVWriter
  private var depthPoses: CSVWriter
  private let colorPosesFile: GrowingFile
  private let depthPosesFile: GrowingFile
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
    colorPoses = CSVWriter(columns: Self.columns)
    depthPoses = CSVWriter(columns: Self.columns)
    colorPosesFile = try GrowingFile(folder.appending("color_poses.csv"))
    depthPosesFile = try GrowingFile(folder.appending("depth_poses.csv"))
  }

  mutating func recordColor(frame: Int, nanoseconds: Int64, state: MotionState) throws {
    Self.append(frame, nanoseconds, state, to: &colorPoses)
    if colorPoses.pendingByteCount > 1 << 16 { try colorPosesFile.append(colorPoses.drain()) }
    tell(frame)
  }

  /// - Parameters:
  ///   - exact: the rendered depth of the frame.
  ///   - color: the color camera of the frame, if it differs from the rig's.
  mutating func recordDepth(
    frame: Int, nanoseconds: Int64, state: MotionState, exact: DepthRenderer,
    color: PinholeCamera? = nil
  ) throws {
    Self.append(frame, nanoseconds, state, to: &depthPoses)
    if depthPoses.pendingByteCount > 1 << 16 { try depthPosesFile.append(depthPoses.drain()) }
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
    try colorPosesFile.append(colorPoses.drain())
    try depthPosesFile.append(depthPoses.drain())
    try colorPosesFile.close()
    try depthPosesFile.close()
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
    let file = "\(Decimals.padded(frame, 6)).png"
    try OutputFile.write(png.encode(image), to: place.appending(file))
  }

  private static func append(
    _ frame: Int, _ nanoseconds: Int64, _ state: MotionState, to table: inout CSVWriter
  ) {
    guard let pose = state.pose else { return }
    table.field(frame)
    table.field(nanoseconds)
    for value in pose.position { table.field(value) }
    let q = pose.orientation
    for value in [q.x, q.y, q.z, q.w] { table.field(value) }
    table.endRow()
  }
}
