import Captures

extension CapturePageMaker {
  /// - Parameter families: the families that captures may belong to.
  static func standard(_ families: CaptureRegistry) -> CapturePageMaker {
    CapturePageMaker(
      document: { try CapturePage.document($0, layout: $1, redaction: $2, families: families) },
      fingerprint: { CapturePage.fingerprint($0, layout: $1) })
  }
}
