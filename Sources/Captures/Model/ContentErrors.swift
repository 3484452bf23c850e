import Core
import SystemPackage

extension CaptureError: ContentError {
  public var contentFile: FilePath? { file }
}

extension CalibrationError: ContentError {
  public var contentFile: FilePath? { nil }
}
