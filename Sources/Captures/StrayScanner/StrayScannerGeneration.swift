/// The layouts of the app's versions.
enum StrayScannerGeneration: String {
  /// 1.0 and 1.1: no times.
  case early
  case npy
  case png
  case rawIMU = "raw-imu"
  case perFrameIntrinsics = "per-frame-intrinsics"

  /// The first sign that applies decides.
  init(
    isEarly: Bool, hasIntrinsicsColumns: Bool, hasArrays: Bool, isMotionInGravities: Bool
  ) {
    if isEarly {
      self = .early
    } else if hasIntrinsicsColumns {
      self = .perFrameIntrinsics
    } else if hasArrays {
      self = .npy
    } else {
      self = isMotionInGravities ? .rawIMU : .png
    }
  }

  /// Whether the times of the video are real; from 2022 on they count frames.
  var hasRealVideoTimes: Bool { self == .npy }
  /// The versions of 2021 recorded depth alone, at first without motion.
  var writesConfidence: Bool { self != .npy && self != .early }
  var writesMotion: Bool { self != .npy && self != .early }
}
