import Codecs
import Geometry
import Pipeline
import Storage
import SystemPackage

/// The pictures of an artifact by canonical frame.
struct PictureFiles: Sendable {
  private let files: [Int: FilePath]

  init(_ input: InputArtifact) {
    files = FrameFileName.pictures(in: input.record).mapValues { input.folder.appending($0.path) }
  }

  /// Frames with a picture, ascending.
  var frames: [Int] { files.keys.sorted() }

  subscript(frame: Int) -> FilePath? { files[frame] }

  /// The frame's picture, PNG or JPEG; `nil` without one.
  func color(_ frame: Int) throws -> ColorImage? {
    try files[frame].map { try StillImage.read($0).picture }
  }
}
