import Captures

/// Opens a capture to say what planning needs to know of it.
public typealias CaptureLook = @Sendable (Recognition) throws(CaptureError) -> CaptureSummary

extension CaptureSummary {
  /// A look in this process.
  static func look(_ registry: CaptureRegistry) -> CaptureLook {
    { (recognition) throws(CaptureError) in
      CaptureSummary(
        try registry.open(recognition),
        readerVersion: registry.readerVersion(of: recognition.family))
    }
  }
}
