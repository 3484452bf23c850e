import Core
import Yams

extension OpenFolderDescription.Transform {
  /// What became of a transform in a row.
  enum Reading {
    case transform(RigidTransform)
    /// A number lacks.
    case missing
    case nonFinite
    /// No rotation and position.
    case malformed
  }

  /// The transform as it is written, in meters; `row` is `nil` for stated numbers.
  func reading(in row: OpenFolderTable?) -> Reading {
    if let (field, order) = matrix {
      guard let numbers = field.numbers(in: row) else { return .missing }
      guard numbers.allSatisfy(\.isFinite) else { return .nonFinite }
      guard [12, 16].contains(numbers.count) else { return .malformed }
      // Without the row 0 0 0 1: three rows of four, or four columns of three.
      let all =
        switch (numbers.count, order) {
        case (16, .row): numbers
        case (16, .column): (0..<16).map { numbers[$0 % 4 * 4 + $0 / 4] }
        case (_, .row): numbers + [0, 0, 0, 1]
        case (_, .column): (0..<12).map { numbers[$0 % 4 * 3 + $0 / 4] } + [0, 0, 0, 1]
        }
      guard RigidTransform.hasUsualLastRow(all), var found = RigidTransform(rowMajor: all) else {
        return .malformed
      }
      found.translation = found.translation.map { $0 * unit.inMeters }
      return found.isRigid(within: 1e-2) ? .transform(found) : .malformed
    }
    guard let (positionField, quaternionField, order) = vectors,
      let position = positionField.numbers(in: row),
      let numbers = quaternionField.numbers(in: row)
    else { return .missing }
    guard (position + numbers).allSatisfy(\.isFinite) else { return .nonFinite }
    let length = numbers.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard position.count == 3, numbers.count == 4, abs(length - 1) < 1e-2 else {
      return .malformed
    }
    let q = order == .xyzw ? numbers : [numbers[1], numbers[2], numbers[3], numbers[0]]
    return .transform(
      RigidTransform(
        rotation: Quaternion(x: q[0], y: q[1], z: q[2], w: q[3]).rotation,
        translation: position.map { $0 * unit.inMeters }))
  }

  /// The transform of stated numbers.
  func rigid(in row: OpenFolderTable?) -> RigidTransform? {
    if case .transform(let found) = reading(in: row) { found } else { nil }
  }
}

extension OpenFolderDescription.Poses {
  /// Camera to world, x right, y down, z ahead.
  func pose(_ written: RigidTransform) -> Pose? {
    let found = direction == .worldFromCamera ? written : written.inverse
    var rotation = found.rotation
    if axes != .opencv {
      // y up and z back become y down and z ahead.
      for index in [1, 2, 4, 5, 7, 8] { rotation[index] = -rotation[index] }
    }
    return Pose(rotation: rotation, position: found.translation)
  }
}

/// A camera as a row or `capture.yaml` states it.
struct OpenFolderCamera: Hashable {
  var intrinsics: Intrinsics
  /// Of the pictures that they belong to.
  var size: PictureSize?
  var lens = LensDistortion.none

  /// A whole number of pixels that a picture can have along a side.
  private static func side(_ number: Double) -> Int? {
    Int(exactly: number).flatMap { (1...InputLimits.sideOfPicture.most).contains($0) ? $0 : nil }
  }

  /// `nil` without finite numbers and focal lengths above zero.
  init?(_ camera: OpenFolderDescription.Camera, in row: OpenFolderTable?) {
    var numbers = camera.parts.compactMap { $0.numbers(in: row) }.flatMap(\.self)
    if let order = camera.order, numbers.count == 9 {
      let m = numbers
      numbers = order == .row ? [m[0], m[4], m[2], m[5]] : [m[0], m[4], m[6], m[7]]
    }
    guard var own = Intrinsics(usable: numbers) else { return nil }
    own.cx -= camera.pixelCenter
    own.cy -= camera.pixelCenter
    intrinsics = own
    if let sides = camera.size?.numbers(in: row), sides.count == 2 {
      guard let width = Self.side(sides[0]), let height = Self.side(sides[1]) else { return nil }
      size = PictureSize(width: width, height: height)
    }
    if let lens = camera.distortion?.numbers(in: row), lens.allSatisfy(\.isFinite) {
      self.lens = LensDistortion(openCVOrder: lens)
    }
  }
}

/// What `layout: transforms` stands for: the files of nerfstudio, Polycam and other NeRF tools.
enum OpenFolderTransforms {
  private static let text = """
    color: {file: file_path}
    depth: {file: depth_file_path}
    poses:
      matrix: transform_matrix
      order: row
      direction: worldFromCamera
      axes: opengl
      world: z-up
    intrinsics:
      fx: fl_x
      fy: fl_y
      cx: cx
      cy: cy
      size: [w, h]
      distortion: [k1, k2, p1, p2]
      pixelCenter: 0.5
    """

  /// By block. They are parsed at each opening.
  static var blocks: [String: Node] {
    var blocks: [String: Node] = [:]
    for (key, value) in (try? Yams.compose(yaml: text))?.mapping ?? [:] {
      if let name = key.string { blocks[name] = value }
    }
    return blocks
  }
}
