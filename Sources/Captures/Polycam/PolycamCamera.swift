import Core

/// What `cameras/<microseconds>.json` says of its frame.
struct PolycamCamera: Sendable {
  /// The camera's pose as far as it can be used.
  enum PoseReading: Hashable, Sendable {
    case pose(Pose)
    /// A key is absent or no number.
    case none
    case nonFinite
    /// No rotation and position.
    case malformed
  }

  var pose: PoseReading
  /// `nil` unless there are four finite numbers with focal lengths above zero.
  var intrinsics: (fx: Double, fy: Double, cx: Double, cy: Double)?
  /// The picture size of the intrinsics; `nil` = not stated.
  var size: (width: Int, height: Int)?
  /// Microseconds; `nil` = not stated.
  var statedTime: Double?

  private static let poseKeys = (0..<3).flatMap { row in (0..<4).map { "t_\(row)\($0)" } }

  init(_ members: JSONMembers) {
    pose = Self.pose(members)
    let numbers = ["fx", "fy", "cx", "cy"].compactMap(members.finite)
    if numbers.count == 4, numbers[0] > 0, numbers[1] > 0 {
      intrinsics = (numbers[0], numbers[1], numbers[2], numbers[3])
    }
    if let width = members.integer("width"), let height = members.integer("height"), width > 0,
      height > 0
    {
      size = (width, height)
    }
    statedTime = members.finite("timestamp")
  }

  /// Whether the first bytes of a file, which is small, are those of a camera.
  static func isOne(_ head: [UInt8]) -> Bool {
    JSONMembers(TextBytes.utf8(head))?.contains("t_00") ?? false
  }

  /// From three rows, camera to world, in ARKit camera axes.
  private static func pose(_ members: JSONMembers) -> PoseReading {
    let rows = poseKeys.compactMap { members.number($0) }
      .compactMap { NumberList.number(String($0)) }
    guard rows.count == 12 else { return .none }
    guard rows.allSatisfy(\.isFinite) else { return .nonFinite }
    let all = rows + [0, 0, 0, 1]
    let columns = (0..<16).map { all[$0 % 4 * 4 + $0 / 4] }
    return Pose(arkitColumnMajor: columns).map(PoseReading.pose) ?? .malformed
  }
}
