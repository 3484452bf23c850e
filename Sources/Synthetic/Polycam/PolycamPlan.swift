/// What an export of Polycam contains.
struct PolycamPlan {
  /// Damage to the camera file of one frame.
  enum CameraEdit {
    case absent
    case empty
    /// Only the first half is there.
    case cut
    case withoutPose
    case notFinite
    /// The file's timestamp is not the time of its name.
    case otherTime
  }

  let generation: PolycamGeneration
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var cameras: [Int: CameraEdit] = [:]
  /// Whether the files lie in `keyframes`, or directly in the capture's folder.
  var hasOuterFolder = true
  var poseJumpFrame: Int?

  init(generation: PolycamGeneration, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  /// Number of camera files, readable or not.
  var cameraCount: Int { frames - cameras.values.count { $0 == .absent } }

  /// Whether a frame's camera file can be read.
  func isRead(_ frame: Int) -> Bool { ![.absent, .empty, .cut].contains(cameras[frame]) }
}
