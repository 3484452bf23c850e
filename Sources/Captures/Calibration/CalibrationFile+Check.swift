import Core
import SystemPackage

extension CalibrationFile {
  /// Checks that a file is a complete calibration, before the capture is known. Whether its sizes
  /// fit a capture is checked when the file is used.
  public static func check(
    _ path: FilePath, for need: CalibrationNeed = .depthAndColor
  ) throws(CalibrationError) {
    let text = try text(of: path)
    do throws(CalibrationProblem) {
      let format = format(of: text)
      switch format {
      case .kalibr: _ = try KalibrChain(text)
      case .json, .labText:
        let calibration = try parse(text)
        if let fault = calibration.firstFault { throw CalibrationProblem(fault) }
        try checkWhole(calibration, format, for: need)
      }
    } catch {
      throw error.error(in: path)
    }
  }
}
