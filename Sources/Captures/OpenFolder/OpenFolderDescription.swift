import Core
import SystemPackage

/// What `capture.yaml` says, checked for itself: no file that it names was looked at.
struct OpenFolderDescription {
  let map: OpenFolderMap
  let color: OpenFolderStream?
  let depth: OpenFolderStream?
  let confidence: OpenFolderStream?
  let poses: OpenFolderStream?
  let intrinsics: OpenFolderStream?
  let geo: OpenFolderStream?
  private(set) var motion: [OpenFolderStream] = []
  /// The depth camera and where it is; `nil` for depth of the color camera.
  private(set) var depthCamera: (camera: OpenFolderCamera, colorFromDepth: RigidTransform)?

  init(_ file: FilePath) throws(CaptureError) {
    let top = try OpenFolderMap(file)
    func stream(_ key: String) throws(CaptureError) -> OpenFolderStream? {
      guard let map = top.map(key) else { return nil }
      return try OpenFolderStream(map, key, clock: top.text("clock") ?? "")
    }
    map = top
    color = try stream("color")
    depth = try stream("depth")
    confidence = try stream("confidence")
    poses = try stream("poses")
    intrinsics = try stream("intrinsics")
    geo = try stream("geo")
    for map in top.maps("motion") {
      motion.append(try OpenFolderStream(map, "motion", clock: top.text("clock") ?? ""))
    }
    if let color, color.images != nil, color.video != nil {
      throw color.map.fault("video", "`images` and `video` exclude each other")
    }
    if let confidence, let raw = confidence.raw, raw.type != .uint8 {
      throw confidence.map.fault("raw", "confidence has one byte per pixel: type uint8")
    }
    for (stream, columns) in [
      (poses, poses?.map.transformColumns), (intrinsics, intrinsics?.map.cameraColumns),
    ] {
      if let stream, stream.table == nil, let column = columns?.first {
        throw stream.map.fault(
          nil, "`\(column)` is no number, and without `table` it is no column either")
      }
    }
    if let map = poses?.map, map.transformColumns.isEmpty, map.pose(in: nil) == .malformed {
      throw map.fault(nil, "the numbers are no rotation and position")
    }
    if let map = intrinsics?.map, map.cameraColumns.isEmpty, OpenFolderCamera(map, in: nil) == nil {
      throw map.fault(nil, "the numbers are no focal lengths, principal point and size")
    }
    guard let camera = depth?.map.map("intrinsics"), let place = depth?.map.map("colorFromDepth")
    else { return }
    guard let parsed = OpenFolderCamera(camera, in: nil), parsed.size != nil else {
      throw camera.fault(nil, "numbers are needed, `size` too: [width, height]")
    }
    guard case .value(let transform) = place.transform(in: nil) else {
      throw place.fault(nil, "it is no rotation and translation in numbers")
    }
    depthCamera = (parsed, transform)
  }
}

/// Where the items of a stream lie, and what they carry.
struct OpenFolderStream {
  struct Time: Hashable {
    enum Source: Hashable {
      case column(String)
      case name
      case rate(Double)
      case video
    }

    var source: Source
    var unit: String
    /// The name of the clock of the times with their offset.
    var clock: String
    var offsetNanoseconds: Int64

    /// The time that a text of a file states.
    func timestamp(_ text: String) -> Timestamp? {
      // The power of ten that makes nanoseconds.
      let scale = unit == "s" ? 9 : unit == "ms" ? 6 : unit == "us" ? 3 : 0
      return Timestamp(decimal: text, scale: scale)?.advanced(byNanoseconds: offsetNanoseconds)
    }
  }

  /// The block's key.
  let subject: String
  let map: OpenFolderMap
  let table: OpenFolderTable.Place?
  /// A path, for pictures with one `*` in the name.
  let images: String?
  let raw: OpenFolderRaw?
  private(set) var time: Time?
  var video: String? { map.text("video") }
  /// The column that names the picture.
  var file: String? { map.text("file") }
  var number: String? { map.text("number") }
  /// By what items are given to frames, if that is stated.
  var pair: StreamPairing.Way? {
    map.text("pair").flatMap { $0 == "row" ? .rank : StreamPairing.Way(rawValue: $0) }
  }
  /// What the stream is called in the capture's description.
  var name: String { images ?? table?.file ?? "" }

  /// - Parameter clock: the capture's.
  init(_ map: OpenFolderMap, _ subject: String, clock: String) throws(CaptureError) {
    (self.subject, self.map) = (subject, map)
    let place = map.map("table")
    table = (place?.text("file") ?? map.text("table")).map {
      OpenFolderTable.Place(
        file: $0, rows: place?.text("rows") ?? "", columns: place?.texts("columns"),
        filter: place?.words("where") ?? [:])
    }
    images = map.text("images")
    raw = try map.map("raw").map { (map) throws(CaptureError) in try OpenFolderRaw(map) }
    if let images, images.contains("*") || raw?.compression != OpenFolderRaw.Compression.none,
      images.count(where: { $0 == "*" }) != 1
        || images.split(separator: "/").last?.contains("*") != true
    {
      throw map.fault(
        "images",
        "`\(images)` needs one `*`, in the name of the file: \"rgb/*.jpg\"; only raw pictures without compression can "
          + "lie in one file")
    }
    guard let time = map.map("time") else {
      if video != nil {
        self.time = Time(source: .video, unit: "s", clock: "video", offsetNanoseconds: 0)
      }
      return
    }
    let source: Time.Source
    switch ["column", "name", "rate"].filter(time.has) {
    case ["column"]:
      guard table != nil else { throw time.fault("column", "so `table` is needed") }
      source = .column(time.text("column") ?? "")
    case ["name"]:
      guard images?.contains("*") == true else {
        throw time.fault("name", "it goes with `images`: the number in the name is the time")
      }
      source = .name
    case ["rate"]: source = .rate(time.number("rate") ?? 1)
    case [] where video != nil: source = .video
    default:
      throw time.fault(nil, "one of `column`, `name: true` and `rate` says where the times are")
    }
    // Times with an offset are those of the capture's clock.
    let offset = time.number("offset")
    self.time = Time(
      source: source, unit: time.text("unit") ?? "s",
      clock: offset != nil
        ? clock : time.text("clock") ?? (source == .video ? "video" : clock),
      offsetNanoseconds: offset.flatMap { Timestamp(exactSeconds: $0)?.nanoseconds } ?? 0)
    if subject == "motion" || subject == "geo", !time.has("column") {
      throw time.fault(nil, "`column` is needed: the times are those of the rows")
    }
  }
}

// MARK: Transforms

extension OpenFolderMap {
  var transformColumns: [String] { columns("matrix", "position", "quaternion") }
  var cameraColumns: [String] {
    columns("fx", "fy", "cx", "cy", "matrix", "size", "distortion")
  }

  /// The keys of a camera whose value is one number.
  static let cameraNumbers = ["fx", "fy", "cx", "cy"]

  /// The transform as it is written, in meters; `row` is `nil` for stated numbers.
  func transform(in row: OpenFolderTable?) -> Reading<RigidTransform> {
    let meters: Double = text("unit").flatMap { ["cm": 0.01, "mm": 0.001][$0] } ?? 1
    let isByRow = text("order") == "row"
    if has("matrix") {
      guard let numbers = numbers("matrix", in: row) else { return .none }
      guard numbers.allSatisfy(\.isFinite) else { return .nonFinite }
      guard [12, 16].contains(numbers.count) else { return .malformed }
      // Without the row 0 0 0 1: three rows of four, or four columns of three.
      let rows = numbers.count / 4
      let all =
        (isByRow ? numbers : (0..<numbers.count).map { numbers[$0 % 4 * rows + $0 / 4] })
        + (rows == 3 ? [0, 0, 0, 1] : [])
      guard RigidTransform.hasUsualLastRow(all), var found = RigidTransform(rowMajor: all) else {
        return .malformed
      }
      found.translation = found.translation.map { $0 * meters }
      return found.isRigid(within: 1e-2) ? .value(found) : .malformed
    }
    guard let position = numbers("position", in: row), let q = numbers("quaternion", in: row) else {
      return .none
    }
    guard (position + q).allSatisfy(\.isFinite) else { return .nonFinite }
    let length = q.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard position.count == 3, q.count == 4, abs(length - 1) < 1e-2 else { return .malformed }
    let first = text("quaternionOrder") == "xyzw" ? 0 : 1
    return .value(
      RigidTransform(
        rotation: Quaternion(
          x: q[first], y: q[first + 1], z: q[first + 2], w: q[(first + 3) % 4]
        ).rotation,
        translation: position.map { $0 * meters }))
  }

  /// A pose: camera to world, x right, y down, z ahead.
  func pose(in row: OpenFolderTable?) -> PoseReading {
    switch transform(in: row) {
    case .none: return .none
    case .empty: return .empty
    case .nonFinite: return .nonFinite
    case .malformed: return .malformed
    case .value(let written):
      let found = text("direction") == "worldFromCamera" ? written : written.inverse
      var rotation = found.rotation
      if text("axes") != "opencv" {
        // y up and z back become y down and z ahead.
        for index in [1, 2, 4, 5, 7, 8] { rotation[index] = -rotation[index] }
      }
      return Pose(rotation: rotation, position: found.translation).map(PoseReading.value)
        ?? .malformed
    }
  }
}

/// A camera as a row or `capture.yaml` states it.
struct OpenFolderCamera: Hashable {
  var intrinsics: Intrinsics
  /// The size of the pictures that the intrinsics belong to.
  var size: PictureSize?
  var lens = LensDistortion.none

  /// `nil` without finite numbers, focal lengths above zero, and the sides of a picture where they are stated.
  init?(_ map: OpenFolderMap, in row: OpenFolderTable?) {
    var numbers = OpenFolderMap.cameraNumbers.compactMap { map.number($0, in: row) }
    if map.has("matrix"), let m = map.numbers("matrix", in: row), m.count == 9 {
      numbers = map.text("order") == "row" ? [m[0], m[4], m[2], m[5]] : [m[0], m[4], m[6], m[7]]
    }
    guard var own = Intrinsics(usable: numbers) else { return nil }
    own.cx -= map.number("pixelCenter") ?? 0
    own.cy -= map.number("pixelCenter") ?? 0
    intrinsics = own
    if let sides = map.numbers("size", in: row) {
      let whole = sides.compactMap { Int(exactly: $0) }
      guard whole.count == 2, whole.allSatisfy((1...InputLimits.sideOfPicture.most).contains) else {
        return nil
      }
      size = PictureSize(width: whole[0], height: whole[1])
    }
    if let lens = map.numbers("distortion", in: row), lens.allSatisfy(\.isFinite) {
      self.lens = LensDistortion(openCVOrder: lens)
    }
  }
}
