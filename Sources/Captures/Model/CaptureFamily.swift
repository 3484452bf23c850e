/// The app format of a capture.
public enum CaptureFamily: String, Codable, CaseIterable, Sendable {
  case scannet
  case arkitScanner = "arkit-scanner"
  case multiscan
  case vislam = "vi-slam"
  case strabo
}
