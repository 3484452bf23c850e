import Media
import Core
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct PolycamTables: Sendable {
  let files: PolycamFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  /// The camera files that can be read, by frame.
  let cameras: [(frame: Int, camera: PolycamCamera)]
  let emptyCameras: Int
  let corruptCameras: Int
  /// Number of camera files whose timestamp is not that of their name.
  let otherTimes: Int
  /// Why the camera files, or one of them, cannot be opened.
  let problem: CaptureError?

  /// Cost: reads every camera file, and pictures until one of each kind is readable.
  init(_ files: PolycamFiles) {
    self.files = files
    color = ColorPictures(StoredPictureFiles(files[.color], in: files.folder(of: .color)))
    depth = .depth(files[.depth], in: files.folder(of: .depth))
    confidence = .confidence(files[.confidence], in: files.folder(of: .confidence))
    let found = FrameFiles(
      files[.camera], in: files.folder(of: .camera), PolycamCamera.init)
    cameras = found.sorted.map { ($0.frame, $0.value) }
    (emptyCameras, corruptCameras) = (found.empty, found.corrupt)
    problem = files.problems[.camera] ?? found.problem
    otherTimes = cameras.count { frame, camera in
      let named = Double(files.times[frame].nanoseconds / 1_000)
      return camera.statedTime ?? named != named
    }
  }

  /// The intrinsics of any frame, with the size that they belong to.
  var anyCamera: PolycamCamera? { cameras.lazy.map(\.camera).first { $0.intrinsics != nil } }
}
