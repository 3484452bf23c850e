import Captures
import Geometry
import Pipeline
import Processing
import Storage
import SystemPackage

/// Which calibration is in force: a file the user names, one chosen by device, the capture's own.
enum CalibrationChoice {
  /// The file to read, if it is not the capture's own values.
  static func file(_ parameters: ParameterValues, deviceID: String?) -> FilePath? {
    if let named = parameters.text("calibration") { return FilePath(named) }
    guard let folder = parameters.text("calibrationFolder"), let deviceID,
      !deviceID.isEmpty, !deviceID.contains("/")
    else { return nil }
    return ["json", "txt", "yaml", "yml"].lazy
      .map { FilePath(folder).appending("\(deviceID).\($0)") }
      .first { FileSystem.exists($0) }
  }

  static func calibration(
    _ context: StageContext, depthSize: PictureSize, colorSize: PictureSize?
  ) throws -> DepthCalibration {
    if let file = context.externalFiles["calibration"] {
      return try CalibrationFile.read(
        file, depthSize: (depthSize.width, depthSize.height),
        colorSize: colorSize.map { ($0.width, $0.height) })
    }
    return context.capture.alignment ?? DepthCalibration(registered: false)
  }
}
