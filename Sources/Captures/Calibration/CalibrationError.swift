import Core
import SystemPackage

/// Why a calibration file cannot be used: file, line, key, value and remedy.
public struct CalibrationError: Error, Hashable, CustomStringConvertible {
  public var file: FilePath
  /// Line number from 1, for formats with lines.
  public var line: Int?
  /// The key as in the file, with its path, such as `cam1.intrinsics[0]`.
  public var key: String?
  /// The value as in the file.
  public var value: String?
  /// What is wrong and what would be right.
  var problem: String

  public init(
    file: FilePath, line: Int? = nil, key: String? = nil, value: String? = nil, problem: String
  ) {
    self.file = file
    self.line = line
    self.key = key
    self.value = value
    self.problem = problem
  }

  public var description: String {
    var text = file.string.onOneLine
    if let line { text += ":\(line)" }
    if let key { text += ": \(key.onOneLine)" }
    if let value { text += " = \(value.onOneLine)" }
    return text + ": \(problem.onOneLine)"
  }
}

/// A problem in the text of a calibration, without the file's name.
struct CalibrationProblem: Error {
  var line: Int?
  var key: String?
  var value: String?
  var problem: String

  /// Long values are shortened.
  init(_ problem: String, key: String? = nil, value: String? = nil, line: Int? = nil) {
    self.line = line
    self.key = key
    self.value = value.map { $0.count > 200 ? $0.prefix(200) + "…" : $0 }
    self.problem = problem
  }

  init(_ fault: CalibrationFault) {
    self.init("must be \(fault.rule)", key: fault.key, value: fault.value)
  }

  /// A transform from a row-major 4×4 matrix. Throws if its last row is not 0 0 0 1: the matrix is
  /// then column-major, or not a transform.
  static func transform(
    _ matrix: [Double], key: String, line: Int? = nil
  ) throws(CalibrationProblem) -> RigidTransform {
    guard matrix.count == 16, let transform = RigidTransform(rowMajor: matrix) else {
      throw CalibrationProblem("must be 16 numbers, row by row", key: key, line: line)
    }
    guard RigidTransform.hasUsualLastRow(matrix) else {
      throw CalibrationProblem(
        "must have the last row 0 0 0 1: write the matrix row by row", key: key,
        value: "\(matrix[12...])", line: line)
    }
    return transform
  }

  /// Throws for impossible intrinsics. `keys` maps `width`, `height`, `fx`, `fy`, `cx` and `cy` to
  /// the names in the file.
  static func check(
    _ camera: PinholeCamera, keys: [String: String]
  ) throws(CalibrationProblem) {
    let calibration = DepthCalibration(registered: false, depthIntrinsics: camera)
    guard let fault = calibration.firstFault else { return }
    let name = fault.key.split(separator: ".").last.map(String.init) ?? fault.key
    throw CalibrationProblem(
      "must be \(fault.rule)", key: keys[name] ?? fault.key, value: fault.value)
  }

  func error(in file: FilePath) -> CalibrationError {
    CalibrationError(file: file, line: line, key: key, value: value, problem: problem)
  }
}

/// Which parts a calibration file must have for its use. A missing part is an error, never a
/// default.
public enum CalibrationNeed: Sendable {
  /// Both cameras and the transform between them: for everything that relates depth to color.
  case depthAndColor
  /// The color camera alone: for exports without depth on its own grid.
  case color
}

extension CalibrationFile {
  /// Throws for the first missing part. The message uses the key of the file's format and says what
  /// to add.
  ///
  /// If depth and color share one camera (`registered`), that of color suffices.
  static func checkWhole(
    _ calibration: DepthCalibration, _ format: Format, for need: CalibrationNeed
  ) throws(CalibrationProblem) {
    let isJSON = format == .json
    let orShared = #"; or "registered": true if depth and color share one camera"#
    func missing(_ camera: String) -> CalibrationProblem {
      isJSON
        ? CalibrationProblem(
          "is missing: add {\"width\", \"height\", \"fx\", \"fy\", \"cx\", \"cy\"}, in pixels, of the \(camera) camera"
            + (camera == "depth" ? orShared : ""), key: "\(camera)Intrinsics")
        : CalibrationProblem(
          "is missing, as is all of the \(camera) camera: add fx_\(camera), fy_\(camera), mx_\(camera) and "
            + "my_\(camera), in pixels", key: "fx_\(camera)")
    }
    if calibration.colorIntrinsics == nil { throw missing("color") }
    guard need == .depthAndColor, !calibration.registered else { return }
    if calibration.depthIntrinsics == nil { throw missing("depth") }
    guard calibration.colorFromDepth == nil else { return }
    throw CalibrationProblem(
      "is missing: add the 4×4 matrix, row by row, that maps points of the depth camera to those of the color camera, "
        + "in meters" + (isJSON ? orShared : "; or its inverse as colorToDepthExtrinsics"),
      key: isJSON ? "colorFromDepth" : "depthToColorExtrinsics")
  }
}
