import Codecs
import Geometry
import Storage
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct PolycamTables: Sendable {
  let files: PolycamFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  /// The camera files that can be read, by frame.
  private(set) var cameras: [(frame: Int, camera: PolycamCamera)] = []
  private(set) var emptyCameras = 0
  private(set) var corruptCameras: Int
  /// Number of camera files whose timestamp is not that of their name.
  private(set) var otherTimes = 0
  /// Why the camera files, or one of them, cannot be opened.
  private(set) var problem: CaptureError?

  /// Cost: reads every camera file, and pictures until one of each kind is readable.
  init(_ files: PolycamFiles) {
    self.files = files
    color = ColorPictures(StoredPictureFiles(files[.color], in: files.folder(of: .color)))
    depth = .depth(files[.depth], in: files.folder(of: .depth))
    confidence = .confidence(files[.confidence], in: files.folder(of: .confidence))
    corruptCameras = files[.camera].unbelieved.count
    problem = files.problems[.camera]
    for (file, path) in zip(files[.camera].files, files.paths(.camera)) {
      do throws(FileError) {
        let bytes = try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
        if bytes.isEmpty {
          emptyCameras += 1
        } else if let members = JSONMembers(TextBytes.utf8(bytes)) {
          let camera = PolycamCamera(members)
          cameras.append((file.number, camera))
          let named = Double(files.times[file.number].nanoseconds / 1_000)
          if camera.statedTime ?? named != named { otherTimes += 1 }
        } else {
          corruptCameras += 1
        }
      } catch {
        problem = problem ?? CaptureError(error, of: path)
      }
    }
  }

  /// The intrinsics of any frame, with the size that they belong to.
  var anyCamera: PolycamCamera? { cameras.lazy.map(\.camera).first { $0.intrinsics != nil } }
}
