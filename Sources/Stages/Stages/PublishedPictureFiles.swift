import Media
import Core
import Engine
import SystemPackage

/// The pictures of an artifact by canonical frame.
struct PublishedPictureFiles {
  private let files: [Int: FilePath]
  private let stage: String
  private let light: PublishedLight?

  init(_ input: InputArtifact) {
    stage = input.stage
    light = PublishedLight(input.record)
    files = FrameFileName.pictures(in: input.record).mapValues { input.folder.appending($0.path) }
  }

  /// Frames with a picture, ascending.
  var frames: [Int] { files.keys.sorted() }

  subscript(frame: Int) -> FilePath? { files[frame] }

  /// The frame's picture, PNG or JPEG; `nil` without one. Throws for pictures of 16 bits.
  func color(_ frame: Int) throws -> ColorImage? {
    try PublishedLight.checkEightBits(light, of: stage)
    return try files[frame].map { try StillImage.read($0).picture }
  }

  /// The frame's picture for looking and measuring, also if it has 16 bits; `nil` without one.
  func look(_ frame: Int) throws -> ColorImage? {
    try files[frame].map(look)
  }

  /// The picture in a file of the artifact, for looking and measuring.
  func look(_ file: FilePath) throws -> ColorImage { try PublishedLight.look(file, light) }
}
