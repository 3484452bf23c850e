import Core
import SystemPackage

/// What `capture.yaml` says, checked for itself: no file that it names was looked at.
struct OpenFolderDescription {
  /// The table that a stream's rows lie in.
  struct Table: Hashable, Sendable {
    var file: String
    /// The key path of the list of rows in a JSON file; empty for the file itself.
    var rows = ""
    /// The names of the columns of a table without header.
    var columns: [String]?
  }

  struct Time: Hashable, Sendable {
    enum Source: Hashable, Sendable {
      case column(String)
      case name
      case rate(Double)
      case video
    }

    var source: Source
    var unit: TimeUnit
    /// The name of the clock of the times with their offset.
    var clock: String
    var offsetNanoseconds: Int64
  }

  enum TimeUnit: String, CaseIterable {
    case seconds = "s"
    case milliseconds = "ms"
    case microseconds = "us"
    case nanoseconds = "ns"

    /// The power of ten that makes nanoseconds.
    var scale: Int {
      switch self {
      case .seconds: 9
      case .milliseconds: 6
      case .microseconds: 3
      case .nanoseconds: 0
      }
    }
  }

  enum Pair: String, CaseIterable { case time, number, row }

  /// Where the items of a stream lie, and what they carry.
  struct Items {
    /// The block's key.
    var subject: String
    var map: OpenFolderMap
    var table: Table?
    /// A folder and the name of its files with one `*`, for streams of pictures.
    var images: String?
    var video: String?
    /// The column that names the picture.
    var file: String?
    var number: String?
    var time: Time?
    var pair: Pair?
  }

  struct Depth {
    var items: Items
    var raw: OpenFolderRaw?
    /// Meters per unit.
    var scale: Double
    var invalid: [Double]
    var camera: Camera?
    var colorFromDepth: RigidTransform?
  }

  enum MatrixOrder: String, CaseIterable { case row, column }
  enum Direction: String, CaseIterable { case worldFromCamera, cameraFromWorld }
  enum Axes: String, CaseIterable { case arkit, opengl, opencv }
  enum QuaternionOrder: String, CaseIterable { case xyzw, wxyz }

  enum LengthUnit: String, CaseIterable {
    case meters = "m"
    case centimeters = "cm"
    case millimeters = "mm"

    var inMeters: Double {
      switch self {
      case .meters: 1
      case .centimeters: 0.01
      case .millimeters: 0.001
      }
    }
  }

  struct Transform {
    var matrix: (field: OpenFolderField, order: MatrixOrder)?
    var vectors: (position: OpenFolderField, quaternion: OpenFolderField, order: QuaternionOrder)?
    var unit: LengthUnit

    var columns: [String] {
      (matrix?.field.columns ?? [])
        + (vectors.map { $0.position.columns + $0.quaternion.columns } ?? [])
    }
  }

  struct Poses {
    var items: Items
    var transform: Transform
    var direction: Direction
    var axes: Axes
    var world: PoseWorld?
  }

  struct Camera {
    var items: Items
    /// fx, fy, cx and cy, each one number, or one 3×3 matrix.
    var parts: [OpenFolderField]
    var order: MatrixOrder?
    var size: OpenFolderField?
    var distortion: OpenFolderField?
    /// What the center of the first pixel counts as.
    var pixelCenter: Double

    var columns: [String] {
      (parts + [size, distortion].compactMap(\.self)).flatMap(\.columns)
    }
  }

  struct Motion {
    var items: Items
    var sensors: [(name: String, columns: [String])]
    var acceleration: AccelerationUnit
    var rotation: RotationUnit
    var convention: IMUConvention
  }

  struct Geo {
    var items: Items
    var place: [String]
    var altitude: [String]?
    var accuracy: [String]?
  }

  enum Clock: String, CaseIterable {
    case uptime, unix
    case recordingStart = "recording-start"
  }

  enum Layout: String, CaseIterable { case transforms }

  let file: FilePath
  let clock: Clock
  let model: String?
  var color: Items?
  var depth: Depth?
  var confidence: Depth?
  var poses: Poses?
  var intrinsics: Camera?
  var motion: [Motion] = []
  var geo: Geo?

  // MARK: Keys

  static let top = [
    OpenFolderReader.mark, "layout", "transforms", "clock", "device", "color", "depth",
    "confidence", "poses", "intrinsics", "motion", "geo",
  ]
  static let items = ["table", "file", "number", "time", "pair"]
  static let colorKeys = ["images", "video"] + items
  static let confidenceKeys = ["images", "raw"] + items
  static let depthKeys =
    confidenceKeys + ["scale", "invalid", "intrinsics", "colorFromDepth"]
  static let transformKeys = [
    "matrix", "order", "position", "quaternion", "quaternionOrder", "unit",
  ]
  static let poseKeys = transformKeys + ["direction", "axes", "world"] + items
  static let cameraKeys =
    ["fx", "fy", "cx", "cy", "matrix", "order", "size", "distortion", "pixelCenter"]
  static let motionKeys =
    ["table", "time", "acceleration", "rotation", "convention"] + IMUStream.knownSensors
  static let geoKeys = ["table", "time", "latitude", "longitude", "altitude", "accuracy"]

  init(_ file: FilePath) throws(CaptureError) {
    self.file = file
    let top = try OpenFolderMap(file, keys: Self.top)
    if let version = try top.text(OpenFolderReader.mark), version != "1" {
      throw top.fault(OpenFolderReader.mark, "`\(version)`: only version 1 is known")
    }
    clock = try top.choice("clock") ?? .uptime
    model = try top.text("device")
    let layout: Layout? = try top.choice("layout")
    if layout == nil, top.has("transforms") {
      throw top.fault("transforms", "only with `layout: transforms`")
    }
    let transforms = layout == nil ? nil : try top.path("transforms") ?? "transforms.json"
    func block(_ key: String, _ keys: [String]) throws(CaptureError) -> OpenFolderMap? {
      let own = try top.map(key, keys: keys)
      guard transforms != nil, let usual = OpenFolderTransforms.blocks[key] else { return own }
      let map = try OpenFolderMap(usual, key, in: file, keys: keys)
      return own?.over(map) ?? map
    }
    func items(_ map: OpenFolderMap, _ subject: String) throws(CaptureError) -> Items {
      try Items(map, subject, transforms: transforms, clock: clock.rawValue)
    }
    if let map = try block("color", Self.colorKeys) {
      let color = try items(map, "color")
      let sources = ["images", "video"].filter(map.has)
      guard sources.count == 1 || (sources.isEmpty && color.file != nil && color.table != nil)
      else {
        throw map.fault(
          nil, "one of `images`, `video`, or `table` with `file` says where the pictures are")
      }
      self.color = color
    }
    if let map = try block("depth", Self.depthKeys) {
      depth = try Self.depth(map, items(map, "depth"), isConfidence: false)
    }
    if let map = try block("confidence", Self.confidenceKeys) {
      confidence = try Self.depth(map, items(map, "confidence"), isConfidence: true)
    }
    if let map = try block("poses", Self.poseKeys) {
      poses = Poses(
        items: try items(map, "poses"), transform: try Self.transform(map),
        direction: try map.stated("direction", "without which poses may be inverse"),
        axes: try map.stated("axes", "those of the camera"),
        world: try (map.choice("world") as World?)?.world)
    }
    if let map = try block("intrinsics", Self.cameraKeys + Self.items) {
      intrinsics = try Self.camera(map, items(map, "intrinsics"))
    }
    for map in try top.maps("motion", keys: Self.motionKeys) {
      motion.append(try Self.motion(map, items(map, "motion")))
    }
    if let map = try top.map("geo", keys: Self.geoKeys) {
      let items = try items(map, "geo")
      guard let latitude = try map.columns("latitude", 1), items.time != nil,
        let longitude = try map.columns("longitude", 1)
      else { throw map.fault(nil, "`table`, `time`, `latitude` and `longitude` are needed") }
      geo = Geo(
        items: items, place: latitude + longitude, altitude: try map.columns("altitude", 1),
        accuracy: try map.columns("accuracy", 1))
    }
    guard color != nil || depth != nil || poses != nil || !motion.isEmpty else {
      throw top.fault(nil, "it describes no color, depth, poses or motion")
    }
  }

  private enum World: String, CaseIterable {
    case yUp = "y-up"
    case zUp = "z-up"
    var world: PoseWorld { self == .yUp ? .yUp : .zUp }
  }

  private static func depth(
    _ map: OpenFolderMap, _ items: Items, isConfidence: Bool
  ) throws(CaptureError) -> Depth {
    guard map.has("images") || (items.file != nil && items.table != nil) else {
      throw map.fault(nil, "`images`, or `table` with `file`, says where the pictures are")
    }
    let raw = try OpenFolderRaw(map)
    if isConfidence, let raw, raw.type != .uint8 {
      throw map.fault("raw", "confidence has one byte per pixel: type uint8")
    }
    if !isConfidence, map.has("intrinsics") != map.has("colorFromDepth") {
      throw map.fault(
        nil,
        "`intrinsics` and `colorFromDepth` belong together: a depth camera of its own needs both")
    }
    var depth = Depth(
      items: items, raw: raw,
      scale: isConfidence
        ? 1 : try map.number("scale", 1e-9...1e6) ?? raw?.type.usualScale ?? 0.001,
      invalid: isConfidence ? [] : try map.numbers("invalid", Set(1...16)) ?? [])
    if !isConfidence, let camera = try map.map("intrinsics", keys: cameraKeys),
      let extrinsics = try map.map("colorFromDepth", keys: transformKeys)
    {
      let parsed = try Self.camera(camera, items)
      guard parsed.size != nil, parsed.columns.isEmpty else {
        throw camera.fault(nil, "numbers are needed, `size` too: [width, height]")
      }
      depth.camera = parsed
      guard let transform = try Self.transform(extrinsics).rigid(in: nil) else {
        throw extrinsics.fault(nil, "it is no rotation and translation in numbers")
      }
      depth.colorFromDepth = transform
    }
    return depth
  }

  private static func transform(_ map: OpenFolderMap) throws(CaptureError) -> Transform {
    var transform = Transform(unit: try map.choice("unit") ?? .meters)
    if let matrix = try map.field("matrix", [12, 16]) {
      transform.matrix = (matrix, try map.stated("order", "in which the matrix is written"))
    } else if let position = try map.field("position", [3]),
      let quaternion = try map.field("quaternion", [4])
    {
      transform.vectors = (
        position, quaternion, try map.stated("quaternionOrder", "of the four numbers")
      )
    } else {
      throw map.fault(nil, "`matrix`, or `position` and `quaternion`, are needed")
    }
    return transform
  }

  private static func camera(_ map: OpenFolderMap, _ items: Items) throws(CaptureError) -> Camera {
    var parts: [OpenFolderField] = []
    var order: MatrixOrder?
    if let matrix = try map.field("matrix", [9]) {
      parts = [matrix]
      order = try map.stated("order", "in which the matrix is written")
    } else {
      for key in ["fx", "fy", "cx", "cy"] {
        guard let part = try map.field(key, [1]) else {
          throw map.fault(nil, "`fx`, `fy`, `cx` and `cy`, or `matrix`, are needed")
        }
        parts.append(part)
      }
    }
    return Camera(
      items: items, parts: parts, order: order, size: try map.field("size", [2]),
      distortion: try map.field("distortion", [4, 5, 8]),
      pixelCenter: try map.number("pixelCenter", 0...1) ?? 0)
  }

  private static func motion(_ map: OpenFolderMap, _ items: Items) throws(CaptureError) -> Motion {
    var sensors: [(name: String, columns: [String])] = []
    for name in IMUStream.knownSensors {
      if let columns = try map.columns(name, 3) { sensors.append((name, columns)) }
    }
    guard !sensors.isEmpty, items.table != nil, items.time != nil else {
      throw map.fault(
        nil,
        "`table`, `time` and a sensor are needed: \(IMUStream.knownSensors.joined(separator: ", "))"
      )
    }
    let names = sensors.map(\.name)
    return Motion(
      items: items, sensors: sensors,
      acceleration: names.contains(where: IMUStream.isAcceleration)
        ? try map.stated("acceleration", "the unit") : .metersPerSecondSquared,
      rotation: names.contains(where: IMUStream.isRotation)
        ? try map.stated("rotation", "the unit") : .radiansPerSecond,
      convention: try (map.choice("convention") as Convention?) == .android ? .android : .coremotion
    )
  }

  private enum Convention: String, CaseIterable { case coremotion, android }
}

extension OpenFolderDescription.Items {
  static let tableKeys = ["file", "rows", "columns"]
  static let timeKeys = ["column", "name", "rate", "unit", "clock", "offset"]

  /// - Parameters:
  ///   - transforms: the file of a layout, where a block names no table.
  ///   - clock: the capture's.
  init(
    _ map: OpenFolderMap, _ subject: String, transforms: String?, clock: String
  ) throws(CaptureError) {
    (self.subject, self.map) = (subject, map)
    if map.isMap("table"), let table = try map.map("table", keys: Self.tableKeys) {
      guard let file = try table.path("file") else { throw table.fault(nil, "`file` is missing") }
      self.table = OpenFolderDescription.Table(
        file: file, rows: try table.text("rows") ?? "", columns: try table.texts("columns"))
    } else if let file = try map.path("table") {
      table = OpenFolderDescription.Table(file: file)
    } else if let transforms, OpenFolderTransforms.blocks[subject] != nil {
      table = OpenFolderDescription.Table(file: transforms, rows: "frames")
    }
    images = try map.path("images")
    if let images,
      images.count(where: { $0 == "*" }) != 1
        || images.split(separator: "/").last?.contains("*") != true
    {
      throw map.fault("images", "`\(images)` needs one `*`, in the name of the file: \"rgb/*.jpg\"")
    }
    video = try map.path("video")
    file = try map.text("file")
    number = try map.text("number")
    pair = try map.choice("pair")
    for key in ["file", "number"] where map.has(key) && table == nil {
      throw map.fault(key, "it names a column, so `table` is needed")
    }
    guard let time = try map.map("time", keys: Self.timeKeys) else {
      if video != nil {
        self.time = OpenFolderDescription.Time(
          source: .video, unit: .seconds, clock: "video", offsetNanoseconds: 0)
      }
      return
    }
    let offset = try time.number("offset", -9e9...9e9)
    let named = try time.text("clock")
    let source: OpenFolderDescription.Time.Source
    switch ["column", "name", "rate"].filter(time.has) {
    case ["column"]:
      guard table != nil else { throw time.fault("column", "so `table` is needed") }
      source = .column(try time.text("column") ?? "")
    case ["name"]:
      guard try time.text("name") == "true", images != nil else {
        throw time.fault("name", "`true`, with `images`: the number in the name is the time")
      }
      source = .name
    case ["rate"]: source = .rate(try time.number("rate", 1e-3...1e5) ?? 1)
    case [] where video != nil: source = .video
    default:
      throw time.fault(nil, "one of `column`, `name: true` and `rate` says where the times are")
    }
    // Times with an offset are those of the capture's clock.
    self.time = OpenFolderDescription.Time(
      source: source,
      unit: time.has("column") || time.has("name")
        ? try time.stated("unit", "of the times") : try time.choice("unit") ?? .seconds,
      clock: offset != nil ? clock : named ?? (source == .video ? "video" : clock),
      offsetNanoseconds: offset.flatMap { Timestamp(exactSeconds: $0)?.nanoseconds } ?? 0)
  }
}
