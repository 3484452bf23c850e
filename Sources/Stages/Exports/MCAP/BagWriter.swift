import Core
import Engine
import Media

/// Writes events as messages of `bag.mcap`.
struct BagWriter {
  private let content: BagContent
  private let channels: [MCAPWriter.Channel]
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
    channels = BagTopic.allCases.map(\.channel)
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

  mutating func finish() throws -> MCAPWriter.Statistics {
    let statistics = try writer.finish()
    try file.finish()
    return statistics
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
      let topic = picture.format == .rgb ? BagTopic.rawColor : .compressedColor
      try write(topic, time, picture.head(time), picture.bytes)
      try writeCamera(.colorCamera, time, frame)
    case .depth(let frame):
      guard let picture else { return }
      try write(.depth, time, picture.head(time), picture.bytes)
      try writeCamera(.depthCamera, time, frame)
    case .fix(let index):
      let position = content.fixes[index]
      try write(.fix, time, ROSMessage.fix(time, frame: BagFrame.position, position))
    }
  }

  private mutating func writeCamera(_ topic: BagTopic, _ time: Timestamp, _ frame: Int) throws {
    guard let camera = content.camera(frame) else { return }
    let lens = content.source.cameras.distortion
    try write(topic, time, ROSMessage.cameraInfo(time, frame: BagFrame.camera, camera, lens))
  }

  private mutating func write(
    _ topic: BagTopic, _ time: Timestamp, _ head: [UInt8], _ payload: [UInt8] = []
  ) throws {
    // Times are 0 or later (`ROSMessage.times`).
    try writer.write(
      to: channels[topic.rawValue], time: UInt64(clamping: time.nanoseconds), head: head,
      payload: payload)
  }
}

/// The bytes of a picture with which a message ends.
struct BagPicture {
  enum Format {
    /// An unchanged file.
    case png, jpeg
    /// Three bytes per pixel; two bytes per pixel, millimeters.
    case rgb, depth
  }

  var format: Format
  var bytes: [UInt8]
  /// Size of `rgb` and `depth`.
  var width = 0
  var height = 0

  /// A picture of `color/`: its file, or its pixels.
  static func color(_ pictures: ExportPictures, _ frame: Int, isRaw: Bool) throws -> BagPicture {
    guard isRaw else {
      return BagPicture(
        format: pictures.ending(frame) == "jpg" ? .jpeg : .png, bytes: try pictures.bytes(frame))
    }
    let picture = try pictures.color(frame)
    return BagPicture(
      format: .rgb, bytes: picture.rgb, width: picture.width, height: picture.height)
  }

  static func depth(_ pictures: ExportPictures, _ frame: Int) throws -> BagPicture {
    let picture = try pictures.depth(frame)
    // Little-endian, as all supported machines are.
    let bytes = picture.millimeters.withUnsafeBytes { Array($0) }
    return BagPicture(
      format: .depth, bytes: bytes, width: picture.width, height: picture.height)
  }

  /// The part of the message before the bytes.
  func head(_ time: Timestamp) -> [UInt8] {
    switch format {
    case .png, .jpeg:
      ROSMessage.compressedImage(
        time, frame: BagFrame.camera, format: format == .png ? "png" : "jpeg",
        byteCount: bytes.count)
    case .rgb:
      ROSMessage.image(
        time, frame: BagFrame.camera, width: width, height: height, encoding: "rgb8",
        bytesPerPixel: 3)
    case .depth:
      ROSMessage.image(
        time, frame: BagFrame.camera, width: width, height: height, encoding: "16UC1",
        bytesPerPixel: 2)
    }
  }
}

/// The topics of a bag, in the order in which messages of equal times are written.
enum BagTopic: Int, CaseIterable {
  case staticTransforms, transforms, pose, imu, compressedColor, rawColor, colorCamera, depth,
    depthCamera, fix

  var name: String {
    switch self {
    case .staticTransforms: "/tf_static"
    case .transforms: "/tf"
    case .pose: "/pose"
    case .imu: "/imu0"
    case .compressedColor: "/cam0/image_raw/compressed"
    case .rawColor: "/cam0/image_raw"
    case .colorCamera: "/cam0/camera_info"
    case .depth: "/depth0/image_raw"
    case .depthCamera: "/depth0/camera_info"
    case .fix: "/fix"
    }
  }

  var type: ROSType {
    switch self {
    case .staticTransforms, .transforms: .tfMessage
    case .pose: .poseStamped
    case .imu: .imu
    case .compressedColor: .compressedImage
    case .rawColor, .depth: .image
    case .colorCamera, .depthCamera: .cameraInfo
    case .fix: .navSatFix
    }
  }

  /// Transient local for static transforms, so that late subscribers receive them; else empty.
  var qualityOfService: String {
    guard self == .staticTransforms else { return "" }
    let forever = "{sec: 9223372036, nsec: 854775807}"
    return "- {history: 1, depth: 1, reliability: 1, durability: 1, deadline: \(forever), "
      + "lifespan: \(forever), liveliness: 1, liveliness_lease_duration: \(forever), "
      + "avoid_ros_namespace_conventions: false}"
  }

  var channel: MCAPWriter.Channel {
    MCAPWriter.Channel(
      topic: name, schema: MCAPWriter.Schema(name: type.fullName, text: type.schemaText),
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
  func stored(_ records: [[UInt8]]) throws(MCAPError) -> [[UInt8]] {
    let packed: [UInt8]?
    switch self {
    case .none: return records
    case .lz4: packed = CompressedFrame.lz4(Array(records.joined()))
    case .zstd: packed = CompressedFrame.zstd(Array(records.joined()))
    }
    guard let packed else { throw MCAPError(what: "no memory to compress a chunk") }
    return [packed]
  }
}

/// An error while writing a bag.
struct MCAPError: Error, Hashable, CustomStringConvertible {
  var what: String
  var description: String { "the bag cannot be written: \(what)" }
}
