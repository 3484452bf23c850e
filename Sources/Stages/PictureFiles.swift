import Codecs
import Geometry
import Pipeline
import Storage
import SystemPackage

/// The pictures of an artifact by canonical frame.
struct PictureFiles: Sendable {
  private let files: [Int: FilePath]

  init(_ input: InputArtifact) {
    files = input.record.outputs.reduce(into: [:]) { files, output in
      guard output.path.hasSuffix(".png") || output.path.hasSuffix(".jpg"),
        let frame = FrameFileName.frame(output.path)
      else { return }
      files[frame] = input.folder.appending(output.path)
    }
  }

  /// Ascending.
  var frames: [Int] { files.keys.sorted() }

  subscript(frame: Int) -> FilePath? { files[frame] }

  /// The frame's picture, PNG or JPEG; `nil` where there is none.
  func color(_ frame: Int) throws -> ColorImage? {
    try files[frame].map { try StillImage.read($0).picture }
  }
}
