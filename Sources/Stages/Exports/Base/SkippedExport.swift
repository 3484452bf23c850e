/// Why a frame is not exported: the first reason that applies, in this order. Scripts depend on the
/// raw values.
package enum SkippedExport: String, Sendable, CaseIterable {
  case noPicture = "no-picture"
  /// The picture has another size than the stream, and the format has one size for all.
  case otherSize = "other-size"
  case noDepth = "no-depth"
  case noPose = "no-pose"
  case noIntrinsics = "no-intrinsics"
  case noTime = "no-time"
  case timeNotIncreasing = "time-not-increasing"
  case outsideIMU = "outside-imu"
  case noPosition = "no-position"
  case notSelected = "not-selected"
  /// The format has no frames at all.
  case notInFormat = "not-in-format"
}
