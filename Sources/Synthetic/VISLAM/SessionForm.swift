/// The forms of a VI-SLAM session.
enum SessionForm: String, CaseIterable {
  /// The iOS app: one row per sample and sensor.
  case v1
  /// The Android recorder: other spellings, bias columns, exposure in nanoseconds, Unix time.
  case android
  /// Wide rows of accelerometer and gyroscope, pictures as PNG files.
  case androidWide = "android-wide"

  var isAndroid: Bool { self != .v1 }

  /// The generation's name in a reader's result.
  var generation: String { isAndroid ? "android" : "v1" }
}
