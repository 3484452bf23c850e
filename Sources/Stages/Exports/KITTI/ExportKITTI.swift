import Captures
import Core
import Engine

/// Writes one sequence in the layout of the KITTI odometry benchmark.
enum ExportKITTI: ExportStage {
  static let name = "export-kitti"
  static let version = 1
  static let sentence =
    "KITTI odometry sequence: pictures, calib.txt, times, poses from the first camera; needs color with times, poses, "
    + "intrinsics."
  static let ports = [colorPort, jpegPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .same)
    + ParameterDescription.list(
      ExportParameters.share, ExportParameters.compression, CommonCamera.parameter)
    + CalibrationChoice.parameters

  static let needs: ExportNeeds = [.picture, .time, .pose, .intrinsics]

  private static let sequence = "sequences/00/"

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    guard let pictures = source.pictures, let camera = CommonCamera(source, frames),
      let first = frames.first, let firstPose = source.pose(first),
      let start = source.time(first)
    else { throw StageDoesNotApply("no frame is left") }
    content.names = try folder.writePictures(pictures, frames, of: source) {
      position, _, ending in sequence + "image_2/" + FrameFileName.name(position, ending)
    }
    try folder.write(calibration(camera.camera), as: sequence + "calib.txt")

    var times = try LineFile(sequence + "times.txt", folder.context.staging)
    var poses = try LineFile("poses/00.txt", folder.context.staging)
    let firstFromWorld = firstPose.worldFromCamera.inverse
    for frame in frames {
      guard let pose = source.pose(frame), let time = source.time(frame) else { continue }
      try times.line(Timestamp(nanoseconds: time - start).decimalSeconds)
      let firstFromCamera: RigidTransform =
        frame == first ? .identity : firstFromWorld * pose.worldFromCamera
      try poses.line(
        firstFromCamera.rowMajor.prefix(12).map(\.shortText).joined(separator: " "))
    }
    try times.finish()
    try poses.finish()

    content.cameras = .one(camera)
    content.poses = .recorded
    return readme(camera, frames.count)
  }

  /// The four cameras of the benchmark, which are one here, and no laser scanner.
  private static func calibration(_ camera: PinholeCamera) -> String {
    let row = [camera.fx, 0, camera.cx, 0, 0, camera.fy, camera.cy, 0, 0, 0, 1, 0]
      .map(\.shortText).joined(separator: " ")
    return (0..<4).map { "P\($0): \(row)\n" }.joined() + "Tr: 1 0 0 0 0 1 0 0 0 0 1 0\n"
  }

  private static func readme(_ camera: CommonCamera, _ count: Int) -> ExportReadme {
    ExportReadme("Sequence in the layout of the KITTI odometry benchmark") {
      "sequences/00/image_2/ holds the pictures, numbered from 0 without holes; frames.csv has the frame of each."
    } opening: {
      ("pykitti.odometry('export-kitti', '00')", "Python; imtype='jpg' where color is JPEG")
      ("evo_traj kitti poses/00.txt", "The app's own trajectory")
    } conventions: {
      "poses/00.txt: 3x4 by rows, from each camera to that of the first exported frame, meters; camera axes x right, "
        + "y down, z forward. \(count) rows."
      "times.txt: seconds since the first exported frame."
      "calib.txt: P0 to P3 are the one camera of the capture, which is \(camera.sentence) There is no laser "
        + "scanner: Tr is the identity."
    } remarks: {
    }
  }
}
