/// The file layouts of Stray Scanner over time.
enum StrayGeneration: String, CaseIterable {
  case perFrameIntrinsics = "per-frame-intrinsics"
  case rawIMU = "raw-imu"
  case png
  case npy

  /// Accelerations are in g, and the gyroscope is raw.
  var isMotionInGravities: Bool { self == .perFrameIntrinsics || self == .rawIMU }

  var hasIntrinsicsPerFrame: Bool { self == .perFrameIntrinsics }

  var hasConfidence: Bool { self != .npy }

  var depthEncoding: String { self == .npy ? "npy-u16" : "png-u16" }

  var depthEnding: String { self == .npy ? "npy" : "png" }
}
