extension CapturePageMaker {
  static let standard: CapturePageMaker? = CapturePageMaker(
    document: { try CapturePage.document($0, layout: $1, redaction: $2) },
    fingerprint: { CapturePage.fingerprint($0, layout: $1) })
}
