import Codecs
import Geometry
import Storage
import SystemPackage

/// A photograph, decoded once to know that it can be.
struct StraboStill {
  let path: FilePath
  /// `png` or `jpeg`, by the first bytes.
  let encoding: String
  /// Upright size.
  let width: Int
  let height: Int
  /// The turn that the EXIF orientation asks for; mirroring not counted.
  let clockwiseQuarterTurns: Int

  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    do throws(ImageError) {
      let still = try StillImage.read(path)
      let stored = (still.picture.width, still.picture.height)
      (width, height) = still.exifOrientation >= 5 ? (stored.1, stored.0) : stored
      // Orientations 5 and 7 are mirrored left to right, then turned by 270° and by 90°.
      let turns = [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3]
      clockwiseQuarterTurns = turns[still.exifOrientation] ?? 0
      encoding = Self.isJPEG(path) ? "jpeg" : "png"
    } catch {
      throw CaptureError(
        file: path, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy)
    }
  }

  private static func isJPEG(_ path: FilePath) -> Bool {
    guard let file = try? MappedFile(path) else { return false }
    return file.withBytes { $0.littleEndian(UInt16.self, at: 0) == 0xD8FF }
  }
}
