import Codecs
import SystemPackage

/// A photograph, looked through once to know that its parts are whole; decoded by who needs it.
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
      let still = try StillImage.head(path)
      (width, height) = still.uprightSize
      // Orientations 5 and 7 are mirrored left to right, then turned by 270° and by 90°.
      let turns = [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3]
      clockwiseQuarterTurns = turns[still.exifOrientation] ?? 0
      encoding = still.isJPEG ? "jpeg" : "png"
    } catch {
      throw CaptureError(
        file: path, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy)
    }
  }
}
