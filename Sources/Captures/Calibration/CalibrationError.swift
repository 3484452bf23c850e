import Geometry
import Storage
import SystemPackage

/// Why a calibration file cannot be used: file, line, key, value and the remedy.
public struct CalibrationError: Error, Hashable, Sendable, CustomStringConvertible {
  public var file: FilePath
  /// Counted from 1, where the format has lines.
  public var line: Int?
  /// As the file spells it, with the way to it, such as `cam1.intrinsics[0]`.
  public var key: String?
  /// As it was read.
  public var value: String?
  /// What is wrong and what would be right.
  public var problem: String

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

/// A problem in the text of a calibration, before the file's name is added.
struct CalibrationProblem: Error {
  var line: Int?
  var key: String?
  var value: String?
  var problem: String

  /// Long values are cut.
  init(_ problem: String, key: String? = nil, value: String? = nil, line: Int? = nil) {
    self.line = line
    self.key = key
    self.value = value.map { $0.count > 200 ? $0.prefix(200) + "…" : $0 }
    self.problem = problem
  }

  init(_ fault: CalibrationFault) {
    self.init("must be \(fault.rule)", key: fault.key, value: fault.value)
  }

  /// Throws for intrinsics that cannot be true, under the key that the file uses: `keys` gives it for
  /// `width`, `height`, `fx`, `fy`, `cx` and `cy`.
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
