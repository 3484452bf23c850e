import Core

/// The two file forms of a COLMAP model, with exactly the same numbers.
enum ColmapForm: String, CaseIterable {
  case text, binary

  var nameEnd: String { self == .text ? "txt" : "bin" }
}

/// One table of a model (`cameras`, `images`, `points3D`) in one form, written in pieces.
struct ColmapFile: ~Copyable {
  private static let pieceBytes = 1 << 20

  private let form: ColmapForm
  private let file: StagedFile
  private var bytes: [UInt8] = []

  /// - Parameter count: number of records that follow.
  init(_ table: String, _ form: ColmapForm, count: Int, _ folder: ExportFolder) throws {
    self.form = form
    file = try folder.create("sparse/0/\(table).\(form.nameEnd)")
    if form == .binary { put(UInt64(count)) }
  }

  /// Appends a camera; ids start at 1.
  mutating func append(_ camera: ColmapCamera, id: Int) throws {
    switch form {
    case .text:
      line(
        ["\(id)", camera.model.name, "\(camera.width)", "\(camera.height)"]
          + camera.parameters.map(\.shortText))
    case .binary:
      put(Int32(clamping: id))
      put(camera.model.rawValue)
      put(UInt64(camera.width))
      put(UInt64(camera.height))
      put(camera.parameters)
    }
    try writePiece()
  }

  mutating func append(_ image: ColmapImage) throws {
    // w ≥ 0. The translation is not the camera's position.
    let q = image.pose.cameraFromWorldOrientation
    let numbers = [q.w, q.x, q.y, q.z] + image.pose.cameraFromWorld.translation.map { $0 + 0 }
    switch form {
    case .text:
      line(["\(image.id)"] + numbers.map(\.shortText) + ["\(image.camera)", image.name])
      // There are no 2D points, but their line is required, or every second picture is lost.
      line([])
    case .binary:
      put(Int32(clamping: image.id))
      put(numbers)
      put(Int32(clamping: image.camera))
      bytes += Array(image.name.utf8) + [0]
      put(UInt64(0))
    }
    try writePiece()
  }

  /// Appends a point with error 0 that no picture sees.
  mutating func append(_ point: StartPoint, id: Int) throws {
    let numbers = [point.x, point.y, point.z]
    switch form {
    case .text:
      line(
        ["\(id)"] + numbers.map(\.shortText)
          + ["\(point.red)", "\(point.green)", "\(point.blue)", "0"])
    case .binary:
      put(UInt64(id))
      put(numbers)
      bytes += [point.red, point.green, point.blue]
      put([0])
      put(UInt64(0))
    }
    try writePiece()
  }

  /// Writes the rest; without this call the file does not become part of the artifact.
  mutating func finish() throws {
    try file.append(bytes)
    bytes = []
    try file.finish()
  }

  private mutating func line(_ fields: [String]) {
    bytes += Array(fields.joined(separator: " ").utf8) + [UInt8(ascii: "\n")]
  }

  private mutating func put(_ numbers: [Double]) {
    for number in numbers { put(number.bitPattern) }
  }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func writePiece() throws {
    guard bytes.count >= Self.pieceBytes else { return }
    try file.append(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// A camera of a COLMAP model.
struct ColmapCamera: Hashable {
  /// Camera models with COLMAP's numbers and names; parameters are in its order.
  enum Model: Int32 {
    /// fx fy cx cy
    case pinhole = 1
    /// fx fy cx cy k1 k2 p1 p2
    case openCV = 4
    /// fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6
    case fullOpenCV = 6

    var name: String {
      switch self {
      case .pinhole: "PINHOLE"
      case .openCV: "OPENCV"
      case .fullOpenCV: "FULL_OPENCV"
      }
    }
  }

  var model: Model
  var width: Int
  var height: Int
  /// Pixels; the principal point is relative to the corner of the corner pixel.
  var parameters: [Double]

  /// Chooses the smallest model without loss: coefficients after p2 are never dropped.
  init(_ camera: PinholeCamera, _ lens: LensDistortion?) {
    width = camera.width
    height = camera.height
    let center = camera.cornerPrincipalPoint
    parameters = [camera.fx, camera.fy, center.x + 0, center.y + 0]
    guard let lens, !lens.isNone else {
      model = .pinhole
      return
    }
    let coefficients = lens.openCVOrder.map { $0 + 0 }
    model = coefficients.dropFirst(4).allSatisfy { $0 == 0 } ? .openCV : .fullOpenCV
    parameters += model == .openCV ? Array(coefficients.prefix(4)) : coefficients
  }
}

/// A picture of a COLMAP model.
struct ColmapImage {
  /// Id, from 1.
  var id: Int
  var pose: Pose
  /// Camera id, from 1.
  var camera: Int
  /// Name relative to `images/`.
  var name: String
}

/// The cameras of a model, and the camera of each picture.
struct ColmapCameras {
  /// The camera with id n is at index n - 1; in order of appearance.
  let cameras: [ColmapCamera]
  /// Id of the camera of each exported frame.
  let ids: [Int]
  /// The common camera; `nil` if there is one for each distinct set of values.
  let common: CommonCamera?

  /// - Parameter one: the common camera; `nil` for one camera per distinct set of values.
  init(_ cameras: [PinholeCamera], _ lens: LensDistortion?, one: CommonCamera?) {
    common = one
    if let one {
      self.cameras = [ColmapCamera(one.camera, lens)]
      ids = cameras.map { _ in 1 }
      return
    }
    var distinct: [ColmapCamera] = []
    var idOf: [ColmapCamera: Int] = [:]
    ids = cameras.map { camera in
      let camera = ColmapCamera(camera, lens)
      if let id = idOf[camera] { return id }
      distinct.append(camera)
      idOf[camera] = distinct.count
      return distinct.count
    }
    self.cameras = distinct
  }
}
