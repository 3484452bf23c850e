import Core
import SystemPackage

/// Reads calibration files in any of three formats, detected by content: JSON (the `alignment`
/// object of `capture.json`), the `key = value` text of a lab calibration, and a Kalibr camera
/// chain.
public enum CalibrationFile {
  /// Size limit in bytes: a calibration has some hundred numbers.
  static let largestBytes = 1 << 20

  /// Reads the calibration in a file.
  ///
  /// The sizes are those of the capture's pictures, in pixels before any turn. They identify the
  /// cameras of a Kalibr chain. A calibration for another size is returned unchanged.
  ///
  /// Throws when the file cannot be read or is malformed, when a value is impossible (a matrix that
  /// is no rotation, a focal length of 0 or less, a number that is not finite), and when a part
  /// that `need` names is missing. Other missing parts are `nil`.
  public static func read(
    _ path: FilePath, depthSize: (width: Int, height: Int)? = nil,
    colorSize: (width: Int, height: Int)? = nil, for need: CalibrationNeed = .depthAndColor
  ) throws(CalibrationError) -> DepthCalibration {
    try readStated(path, depthSize: depthSize, colorSize: colorSize, for: need).calibration
  }

  /// Reads a calibration file together with the device that it names.
  static func readStated(
    _ path: FilePath, depthSize: (width: Int, height: Int)?, colorSize: (width: Int, height: Int)?,
    for need: CalibrationNeed
  ) throws(CalibrationError) -> StatedCalibration {
    let text = try text(of: path)
    do throws(CalibrationProblem) {
      let stated = try parseStated(text, depthSize: depthSize, colorSize: colorSize)
      if let fault = stated.calibration.firstFault { throw CalibrationProblem(fault) }
      try checkWhole(stated.calibration, format(of: text), for: need)
      return stated
    } catch {
      throw error.error(in: path)
    }
  }

  /// Parses the calibration in a text of any of the formats, complete or not.
  static func parse(
    _ text: String, depthSize: (width: Int, height: Int)? = nil,
    colorSize: (width: Int, height: Int)? = nil
  ) throws(CalibrationProblem) -> DepthCalibration {
    try parseStated(text, depthSize: depthSize, colorSize: colorSize).calibration
  }

  /// Parses a calibration together with the device that the text names.
  static func parseStated(
    _ text: String, depthSize: (width: Int, height: Int)? = nil,
    colorSize: (width: Int, height: Int)? = nil
  ) throws(CalibrationProblem) -> StatedCalibration {
    switch format(of: text) {
    case .json: return try CalibrationJSON.stated(in: text)
    case .labText:
      let lab = LabCalibrationText(text)
      return StatedCalibration(try lab.calibration(), deviceID: lab.deviceID)
    case .kalibr:
      let chain = try KalibrChain(text)
      return StatedCalibration(
        try chain.calibration(depthSize: depthSize, colorSize: colorSize), deviceID: chain.deviceID)
    }
  }

  enum Format {
    case json, labText, kalibr
  }

  /// A text that starts with `{` is JSON. Otherwise the first line that is not blank or a comment
  /// decides: with `=` it is a lab text, otherwise a camera chain.
  static func format(of text: String) -> Format {
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.drop(while: \.isWhitespace)
      guard let first = content.first, first != "#" else { continue }
      if first == "{" { return .json }
      return content.contains("=") ? .labText : .kalibr
    }
    return .labText
  }

  /// The file's text, decoded from UTF-8 or UTF-16, without byte order mark.
  static func text(of path: FilePath) throws(CalibrationError) -> String {
    let file: MappedFile
    do {
      file = try MappedFile(path)
    } catch {
      throw CalibrationError(file: path, problem: error.sentence)
    }
    guard file.count <= largestBytes else {
      throw CalibrationError(
        file: path,
        problem:
          "\(file.count) bytes are too many for a calibration: name a file of at most 1 MiB, in a form of docs/calibration.md"
      )
    }
    let bytes = file.withBytes { bytes in
      (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    guard let text = String(validating: TextBytes.utf8(bytes), as: UTF8.self) else {
      throw CalibrationError(file: path, problem: "is neither UTF-8 nor UTF-16 text")
    }
    return text
  }
}
