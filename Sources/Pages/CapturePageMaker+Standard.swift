extension CapturePageMaker {
  /// `nil`: no page of a capture is made.
  static let standard: CapturePageMaker? = nil
}
