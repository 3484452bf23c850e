import Geometry
import Storage
import SystemPackage

/// A video in the making.
final class VideoSink {
  private let file: GrowingFile

  private init(file: GrowingFile) { self.file = file }

  static func annexB(
    _ path: FilePath, camera: PinholeCamera, rate: Double, options: SynthesisOptions
  ) throws -> VideoSink {
    VideoSink(file: try GrowingFile(path))
  }

  func append(_ picture: ColorImage) throws { try file.append([0]) }

  func finish() throws { try file.close() }
}
