import Core
import Engine
import Media

/// Writes events as messages of `bag.mcap`.
struct BagWriter {
  private let content: BagContent
  private let file: StagedFile
  private var writer: MCAPWriter

  private static let bytesBetweenChecks = 32 << 20

  /// - Parameter metadata: texts about the capture.
  init(
    _ content: BagContent, _ file: StagedFile, library: String, _ compression: MCAPCompression,
    metadata: [(key: String, value: String)]
  ) throws {
    self.content = content
    self.file = file
    let folder = content.source.context.staging.path
    var unchecked = 0
    writer = try MCAPWriter(library: library, compression: compression) { bytes in
      unchecked += bytes.count
      if unchecked > Self.bytesBetweenChecks {
        // A bag is one file of gigabytes: it stops while other stages still have disk space.
        try FileSystem.checkSpace(for: 0, at: folder)
        unchecked = 0
      }
      try file.append(bytes)
    }
    try writer.add(metadata: "capture", metadata)
    let transforms = content.staticTransforms
    if let first = content.timeline.nextTime, !transforms.isEmpty {
      try write(.staticTransforms, first, ROSMessage.transforms(first, transforms))
    }
  }

  /// Writes events in order; `pictures` are those of the events that have one.
  mutating func write(_ entries: [BagTimeline.Entry], _ pictures: [BagPicture]) throws {
    var pictures = pictures[...]
    for entry in entries {
      let picture = entry.event.hasPicture ? pictures.popFirst() : nil
      try write(entry, picture)
    }
  }

  mutating func finish() throws -> MCAPSummary {
    let summary = try writer.finish()
    try file.finish()
    return summary
  }

  private mutating func write(_ entry: BagTimeline.Entry, _ picture: BagPicture?) throws {
    let time = entry.time
    switch entry.event {
    case .pose(let frame):
      guard let pose = content.pose(frame) else { return }
      let transform = ROSMessage.Transform(
        parent: BagFrame.world, child: BagFrame.camera, translation: pose.position,
        rotation: pose.orientation)
      try write(.transforms, time, ROSMessage.transforms(time, [transform]))
      try write(.pose, time, ROSMessage.pose(time, frame: BagFrame.world, pose))
    case .imu(let index):
      let row = content.timeline.imu[index]
      try write(
        .imu, time, ROSMessage.imu(time, frame: BagFrame.imu, row, variances: content.variances))
    case .color(let frame):
      guard let picture else { return }
      try write(picture.channel, time, picture.head, picture.bytes)
      try writeCamera(.colorCamera, time, frame)
    case .depth(let frame):
      guard let picture else { return }
      try write(picture.channel, time, picture.head, picture.bytes)
      try writeCamera(.depthCamera, time, frame)
    case .fix(let index):
      let position = content.fixes[index]
      try write(.fix, time, ROSMessage.fix(time, frame: BagFrame.position, position))
    }
  }

  private mutating func writeCamera(
    _ channel: MCAPWriter.Channel, _ time: Timestamp, _ frame: Int
  ) throws {
    guard let camera = content.camera(frame) else { return }
    let lens = content.source.cameras.distortion
    try write(channel, time, ROSMessage.cameraInfo(time, frame: BagFrame.camera, camera, lens))
  }

  private mutating func write(
    _ channel: MCAPWriter.Channel, _ time: Timestamp, _ head: [UInt8], _ payload: [UInt8] = []
  ) throws {
    // Times are 0 or later (`ROSMessage.times`).
    try writer.write(
      to: channel, time: UInt64(clamping: time.nanoseconds), head: head, payload: payload)
  }
}

/// A message that ends with a picture.
struct BagPicture {
  var channel: MCAPWriter.Channel
  /// The part of the message before the bytes of the picture.
  var head: [UInt8]
  var bytes: [UInt8]

  /// A picture of `color/`: its file, or its pixels.
  static func color(
    _ pictures: ExportPictures, _ frame: Int, _ time: Timestamp, isRaw: Bool
  ) throws -> BagPicture {
    guard isRaw else {
      let bytes = try pictures.bytes(frame)
      return BagPicture(
        channel: .compressedColor,
        head: ROSMessage.compressedImage(
          time, frame: BagFrame.camera, format: pictures.ending(frame) == "jpg" ? "jpeg" : "png",
          byteCount: bytes.count), bytes: bytes)
    }
    let picture = try pictures.color(frame)
    return BagPicture(
      channel: .rawColor,
      head: ROSMessage.image(
        time, frame: BagFrame.camera, width: picture.width, height: picture.height,
        encoding: "rgb8", bytesPerPixel: 3), bytes: picture.rgb)
  }

  /// Two bytes per pixel, millimeters.
  static func depth(
    _ pictures: ExportPictures, _ frame: Int, _ time: Timestamp
  ) throws -> BagPicture {
    let picture = try pictures.depth(frame)
    return BagPicture(
      channel: .depth,
      head: ROSMessage.image(
        time, frame: BagFrame.camera, width: picture.width, height: picture.height,
        encoding: "16UC1", bytesPerPixel: 2),
      // Little-endian, as all supported machines are.
      bytes: picture.millimeters.withUnsafeBytes { Array($0) })
  }
}

/// The topics of a bag.
extension MCAPWriter.Channel {
  /// Transient local, so that late subscribers receive them.
  static let staticTransforms = {
    let forever = "{sec: 9223372036, nsec: 854775807}"
    return Self(
      "/tf_static", "tf2_msgs/TFMessage",
      qualityOfService:
        "- {history: 1, depth: 1, reliability: 1, durability: 1, deadline: \(forever), "
        + "lifespan: \(forever), liveliness: 1, liveliness_lease_duration: \(forever), "
        + "avoid_ros_namespace_conventions: false}")
  }()
  static let transforms = Self("/tf", "tf2_msgs/TFMessage")
  static let pose = Self("/pose", "geometry_msgs/PoseStamped")
  static let imu = Self("/imu0", "sensor_msgs/Imu")
  static let compressedColor = Self("/cam0/image_raw/compressed", "sensor_msgs/CompressedImage")
  static let rawColor = Self("/cam0/image_raw", "sensor_msgs/Image")
  static let colorCamera = Self("/cam0/camera_info", "sensor_msgs/CameraInfo")
  static let depth = Self("/depth0/image_raw", "sensor_msgs/Image")
  static let depthCamera = Self("/depth0/camera_info", "sensor_msgs/CameraInfo")
  static let fix = Self("/fix", "sensor_msgs/NavSatFix")

  /// - Parameter type: `package/Name`, as in the definitions.
  private init(_ topic: String, _ type: String, qualityOfService: String = "") {
    self.init(
      topic: topic, type: type.replacing("/", with: "/msg/"), schema: ROSMessage.schema(of: type),
      qualityOfService: qualityOfService)
  }
}

/// Collects the records of a chunk and the data of its index.
///
/// Large payloads are kept without copying, so that the kernel makes the only copy between a
/// picture's file and the bag.
struct MCAPChunk {
  private var pieces: [[UInt8]] = []
  private var tail: [UInt8] = []
  private(set) var count = 0
  private(set) var firstTime: UInt64 = 0
  private(set) var lastTime: UInt64 = 0
  /// Times and offsets of messages, by channel.
  private(set) var messages: [UInt16: [(time: UInt64, offset: UInt64)]] = [:]

  /// Payloads of at least this size are kept as separate arrays.
  private static let largePayload = 64 << 10

  var isEmpty: Bool { count == 0 }

  /// Appends a schema or a channel.
  mutating func append(record: [UInt8]) {
    tail += record
    count += record.count
  }

  /// Appends a message: its record up to the payload, and the payload.
  mutating func append(
    head: [UInt8], payload: [UInt8], channel: UInt16, time: UInt64
  ) {
    if messages.isEmpty {
      (firstTime, lastTime) = (time, time)
    } else {
      (firstTime, lastTime) = (min(firstTime, time), max(lastTime, time))
    }
    messages[channel, default: []].append((time, UInt64(count)))
    tail += head
    if payload.count < Self.largePayload {
      tail += payload
    } else {
      pieces.append(tail)
      pieces.append(payload)
      tail = []
    }
    count += head.count + payload.count
  }

  /// The records as a list of byte arrays.
  var records: [[UInt8]] { tail.isEmpty ? pieces : pieces + [tail] }

  var checksum: UInt32 {
    var sum = CRC32()
    for piece in records { sum.update(piece) }
    return sum.value
  }

  mutating func removeAll() {
    pieces.removeAll()
    tail.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
    count = 0
  }
}

/// Compression of a chunk's records.
enum MCAPCompression: String, CaseIterable {
  case none, lz4, zstd

  /// The name in records.
  var recordName: String { self == .none ? "" : rawValue }

  /// The stored bytes of `records`, as a list of byte arrays.
  func stored(_ records: [[UInt8]]) throws -> [[UInt8]] {
    let packed: [UInt8]?
    switch self {
    case .none: return records
    case .lz4: packed = CompressedFrame.lz4(Array(records.joined()))
    case .zstd: packed = CompressedFrame.zstd(Array(records.joined()))
    }
    guard let packed else {
      throw StageFailure("the bag cannot be written: no memory to compress a chunk")
    }
    return [packed]
  }
}
