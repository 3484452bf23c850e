import Core

/// The content of the pose file for one key.
enum ARKitScannerPoseReading: Sendable {
  case pose(Pose)
  case nonFinite
  /// The numbers are not sixteen, or no rotation.
  case malformed
  /// The file of the key has 0 bytes.
  case empty
  /// There is no pose for the key.
  case none

  /// From the app's column-major matrix with ARKit camera axes.
  init(app numbers: [Double]?) {
    guard let numbers, numbers.count == 16 else {
      self = .malformed
      return
    }
    guard numbers.allSatisfy(\.isFinite) else {
      self = .nonFinite
      return
    }
    self = Pose(arkitColumnMajor: numbers).map(ARKitScannerPoseReading.pose) ?? .malformed
  }

  /// From four rows. If `aligned`, the axes are OpenCV's and nothing is divided; otherwise the
  /// matrix is the app's own, by rows.
  init(release rows: [[Double]]?, aligned: Bool) {
    guard let rows else {
      self = .none
      return
    }
    guard rows.count == 4, rows.allSatisfy({ $0.count == 4 }) else {
      self = .malformed
      return
    }
    guard rows.allSatisfy({ $0.allSatisfy(\.isFinite) }) else {
      self = .nonFinite
      return
    }
    if aligned {
      let pose = Pose(
        rotation: rows[..<3].flatMap { $0[..<3] }, position: rows[..<3].map { $0[3] })
      self = pose.map(ARKitScannerPoseReading.pose) ?? .malformed
    } else {
      self.init(app: (0..<4).flatMap { column in rows.map { $0[column] } })
    }
  }
}
