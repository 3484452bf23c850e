import Media
import Core

/// The part of `transforms.json` that applies to all frames.
struct TransformsHeader {
  var width: Int
  var height: Int
  /// The common camera; `nil` if every frame has its own.
  var camera: PinholeCamera?
  var lens: LensDistortion?
  /// From the app's world to that of the file.
  var worldFromApp: RigidTransform
  /// Whether a reader must not turn the scene upright: it is.
  var keepsUp: Bool
  /// Relative path of the start points; `nil` if there are none.
  var points: String?
  /// Whether to write the keys of instant-ngp, with depth also those of its depth.
  var isForNGP: Bool
  /// The pictures of each part; empty: the reader divides them itself.
  var parts: [(name: String, pictures: [String])] = []
  var hasDepth: Bool
}

/// Writes `transforms.json` frame by frame. A key is either at the top for all frames or in every
/// frame: one at the top makes nerfstudio ignore those of the frames.
struct TransformsFile: ~Copyable {
  private static let pieceBytes = 1 << 20

  private let head: TransformsHeader
  private let file: StagedFile
  private var json = JSONStream()

  init(_ head: TransformsHeader, _ folder: ExportFolder) throws {
    self.head = head
    file = try folder.create("transforms.json")
    json.beginObject(lines: true)
    json.member("camera_model", "OPENCV")
    json.member("w", head.width)
    json.member("h", head.height)
    if let camera = head.camera { putCamera(camera) }
    putLens()
    if head.keepsUp { json.member("orientation_override", "none") }
    json.key("applied_transform")
    json.value(Array(head.worldFromApp.rowMajor.prefix(12)), rowsOf: 4)
    if let points = head.points { json.member("ply_file_path", points) }
    if head.isForNGP { putNGP() }
    for part in head.parts {
      json.key(part.name + "_filenames")
      json.beginArray()
      for picture in part.pictures { json.value(picture) }
      json.end()
    }
    json.key("frames")
    json.beginArray(lines: true)
  }

  mutating func append(
    picture: String, depth: String?, mask: String?, _ camera: PinholeCamera, _ pose: Pose
  ) throws {
    json.beginObject()
    json.member("file_path", picture)
    if let depth {
      json.member("depth_file_path", depth)
      if head.isForNGP { json.member("depth_path", depth) }
    }
    if let mask { json.member("mask_path", mask) }
    if head.camera == nil { putCamera(camera) }
    json.key("transform_matrix")
    let matrix = head.worldFromApp * pose.worldFromOpenGLCamera
    json.value(matrix.rowMajor.map { $0 + 0 }, rowsOf: 4)
    json.end()
    if json.pendingByteCount >= Self.pieceBytes { try writePiece() }
  }

  /// Closes the document; without this call the file does not become part of the artifact.
  mutating func finish() throws {
    json.end()
    json.end()
    json.endLine()
    try writePiece()
    try file.finish()
  }

  private mutating func writePiece() throws {
    try json.drain { try file.append($0) }
  }

  /// The principal point is relative to the corner of the corner pixel: rays pass through pixel +
  /// 0.5.
  private mutating func putCamera(_ camera: PinholeCamera) {
    let center = camera.cornerPrincipalPoint
    json.member("fl_x", camera.fx)
    json.member("fl_y", camera.fy)
    json.member("cx", center.x)
    json.member("cy", center.y)
  }

  private mutating func putLens() {
    guard let lens = head.lens else { return }
    json.member("k1", lens.k1)
    json.member("k2", lens.k2)
    if lens.k3 != 0 { json.member("k3", lens.k3) }
    json.member("p1", lens.p1)
    json.member("p2", lens.p2)
  }

  private mutating func putNGP() {
    if head.hasDepth {
      json.member("enable_depth_loading", true)
      json.member("integer_depth_scale", 0.001)
    }
    json.member("aabb_scale", 4)
  }
}
