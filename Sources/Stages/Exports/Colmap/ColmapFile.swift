import Core

/// The two file forms of a COLMAP model, with exactly the same numbers.
enum ColmapForm: String, CaseIterable {
  case text = "txt"
  case binary = "bin"
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
    file = try folder.create("sparse/0/\(table).\(form.rawValue)")
    if form == .binary { put(UInt64(count)) }
  }

  /// Appends a camera; ids start at 1.
  mutating func append(_ camera: ColmapCamera, id: Int) throws {
    switch form {
    case .text:
      line(
        ["\(id)", camera.model.name, "\(camera.width)", "\(camera.height)"]
          + camera.parameters.map(MatrixText.number))
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
    let q = image.rotation
    let numbers = [q.w, q.x, q.y, q.z] + image.translation
    switch form {
    case .text:
      line(["\(image.id)"] + numbers.map(MatrixText.number) + ["\(image.camera)", image.name])
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
        ["\(id)"] + numbers.map(MatrixText.number)
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
