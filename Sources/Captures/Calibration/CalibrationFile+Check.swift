import Geometry
import SystemPackage

extension CalibrationFile {
  /// Whether a file is a calibration at all, before the capture that it is for is known. What depends on
  /// the capture, its sizes, is told when the file is used.
  public static func check(_ path: FilePath) throws(CalibrationError) {
    let text = try text(of: path)
    do throws(CalibrationProblem) {
      switch format(of: text) {
      case .kalibr: _ = try KalibrChain(text)
      case .json, .labText:
        // Sizes stand in where a lab text leaves them out; any will do.
        let calibration = try parse(text, depthSize: (640, 480), colorSize: (1296, 968))
        if let fault = calibration.firstFault { throw CalibrationProblem(fault) }
      }
    } catch {
      throw error.error(in: path)
    }
  }
}
