import FoundationEssentials
import Core
import SystemPackage

/// `pose_intrinsic_imu.json` of the released scenes: one object per frame, matrices by rows.
struct ARKitScannerRelease: Sendable {
  struct Frame: Sendable, Decodable {
    /// Decimal seconds with all digits of the file.
    var timestamp: Decimal?
    var pose: [[Double]]?
    var alignedPose: [[Double]]?
    var intrinsic: [[Double]]?
    var imu: Motion?

    /// A member of unexpected type counts as absent, so that the other frames remain readable.
    init(from decoder: any Decoder) throws {
      let members = try decoder.members
      timestamp = members.value("timestamp")
      pose = members.value("pose")
      alignedPose = members.value("aligned_pose")
      intrinsic = members.value("intrinsic")
      imu = members.value("imu")
    }

    mutating func clear() {
      (timestamp, pose, alignedPose, imu) = (nil, nil, nil, nil)
    }

    var time: Timestamp? { timestamp.flatMap { Timestamp(decimalSeconds: $0.description) } }
  }

  struct Motion: Sendable, Decodable {
    var rotationRate: [Double]?
    var acceleration: [Double]?
    var gravity: [Double]?

    init(from decoder: any Decoder) throws {
      let members = try decoder.members
      rotationRate = members.value("rotate_rate")
      acceleration = members.value("acceleration")
      gravity = members.value("gravity")
    }
  }

  /// Frames in the order of their numbers, which are the positions in the video and the depth file.
  var frames: [(number: Int, frame: Frame)]
  /// Number of entries left out because their key is not a frame name.
  var unreadableKeys = 0
  /// Number of frames whose time is far from all others: they keep their position, but lose time
  /// and pose.
  var farOff = 0
  /// Whether the file is cut.
  let isCut: Bool

  init(_ file: FilePath) throws(CaptureError) {
    let entries: [String: Frame]
    (entries, isCut) = try ARKitScannerSideFile.entries([String: Frame].self, from: file)
    frames = []
    frames.reserveCapacity(entries.count)
    for (text, frame) in entries {
      if let number = Self.frameNumber(text) {
        frames.append((number, frame))
      } else {
        unreadableKeys += 1
      }
    }
    frames.sort { $0.number < $1.number }
    let bounds = TimeBounds(frames.lazy.compactMap(\.frame.time))
    for index in frames.indices {
      guard let time = frames[index].frame.time, !bounds.contains(time) else { continue }
      frames[index].frame.clear()
      farOff += 1
    }
  }

  /// The number in `frame_000012`.
  static func frameNumber(_ key: String) -> Int? {
    guard key.hasPrefix("frame_") else { return nil }
    let digits = String(key.dropFirst(6))
    return ARKitScannerKey.isFrameNumber(digits) ? Int(digits) : nil
  }
}
