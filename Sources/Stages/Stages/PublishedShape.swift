import Captures
import Core
import Engine
import Processing

/// How the pictures of an artifact differ from those of the camera, as its record states it.
struct PublishedShape: Hashable {
  var shape: PictureShape
  /// The camera of all pictures, if they were undistorted with a calibration file; `nil` if it follows
  /// from the capture's own intrinsics.
  var camera: PinholeCamera?
  /// The lens that was removed, upright, if it was that of a calibration file.
  var removed: LensDistortion?
}

extension PublishedShape {
  /// The key in records.
  static let key = "pictureShape"

  /// From the record of a stage; pictures as recorded by the camera have none.
  init?(_ record: ArtifactRecord) {
    guard case .object(let stated)? = record.recorded[Self.key] else { return nil }
    var shape = PictureShape()
    if case .bool(let isUndistorted)? = stated["undistorted"] { shape.undistorts = isUndistorted }
    shape.alpha = stated["alpha"]?.number
    if case .string(let text)? = stated["size"] { shape.sizing = PictureSizing(text) }
    self.shape = shape
    camera = Self.camera(stated["camera"])
    if case .array(let numbers)? = stated["removedDistortion"] {
      removed = LensDistortion(openCVOrder: numbers.compactMap(\.number))
    }
  }

  /// The camera of the pictures of an artifact that states one for all; `nil` otherwise.
  static func outputCamera(_ record: ArtifactRecord) -> PinholeCamera? {
    camera(record.recorded["outputIntrinsics"])
  }

  private static func camera(_ value: JSONValue?) -> PinholeCamera? {
    guard case .object(let camera)? = value, let width = camera["width"]?.number,
      let height = camera["height"]?.number, let fx = camera["fx"]?.number,
      let fy = camera["fy"]?.number, let cx = camera["cx"]?.number,
      let cy = camera["cy"]?.number, let columns = Int(exactly: width),
      let rows = Int(exactly: height)
    else { return nil }
    return PinholeCamera(width: columns, height: rows, fx: fx, fy: fy, cx: cx, cy: cy)
  }

  /// What goes into the record; empty for pictures as recorded by the camera.
  var recorded: [String: JSONValue] {
    guard !shape.isAsRecorded else { return [:] }
    var stated: [String: JSONValue] = ["undistorted": .bool(shape.undistorts)]
    stated["alpha"] = shape.undistorts ? shape.alpha.map(JSONValue.number) : nil
    stated["size"] = shape.sizing.map { .string($0.text) }
    stated["camera"] = camera.map(\.recorded)
    stated["removedDistortion"] = removed.map { .array($0.openCVOrder.map { .number($0 + 0) }) }
    return [Self.key: .object(stated)]
  }

  /// Throws if the undistorted pictures of `stage` belong to another camera than a calibration file
  /// says, which a stage was given for all of them.
  ///
  /// - Parameters:
  ///   - expected: the camera of the shaped pictures by the calibration that the stage uses; `nil` =
  ///     unknown.
  ///   - lens: the lens of the upright pictures before, by the same calibration.
  ///   - usesFile: whether that is a file of the user.
  func check(
    _ expected: PinholeCamera?, _ lens: LensDistortion, usesFile: Bool, of stage: String
  ) throws {
    guard shape.undistorts else { return }
    let isSame =
      switch (camera, usesFile) {
      case (nil, false): true
      case (nil, true): false
      case (let camera?, _):
        (expected.map { camera.isNear($0) } ?? true) && (removed.map { $0 == lens } ?? true)
      }
    guard isSame else {
      throw StageFailure(
        "the pictures of '\(stage)' were undistorted with "
          + (camera == nil ? "the capture's own calibration" : "another calibration file")
          + ": give this stage and '\(stage)' the same calibration", cause: .input)
    }
  }
}

extension PinholeCamera {
  /// The form in records.
  var recorded: JSONValue {
    .object([
      "width": .integer(Int64(width)), "height": .integer(Int64(height)), "fx": .number(fx),
      "fy": .number(fy), "cx": .number(cx), "cy": .number(cy),
    ])
  }

  /// Whether two cameras agree within a hundredth of a pixel.
  fileprivate func isNear(_ other: PinholeCamera) -> Bool {
    (width, height) == (other.width, other.height)
      && zip([fx, fy, cx, cy], [other.fx, other.fy, other.cx, other.cy]).allSatisfy {
        abs($0 - $1) < 0.01
      }
  }
}
