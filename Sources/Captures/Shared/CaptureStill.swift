import Core
import Media
import SystemPackage

/// A photograph of a capture, checked for completeness when it is opened and decoded on demand.
struct CaptureStill {
  let path: FilePath
  /// `png` or `jpeg`, by the first bytes.
  let encoding: String
  let stored: PictureSize
  /// Upright size.
  let size: PictureSize
  /// Clockwise turns of the EXIF orientation; without mirroring.
  let clockwiseQuarterTurns: Int

  /// Turns by EXIF orientation. 5 and 7 are mirrored left to right, then turned by 270° and by 90°.
  private static let turns = [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3]

  init(_ path: FilePath) throws(CaptureError) {
    do throws(ImageError) {
      let still = try StillImage.header(path)
      self.path = path
      encoding = still.isJPEG ? "jpeg" : "png"
      (stored, size) = (still.storedSize, still.uprightSize)
      clockwiseQuarterTurns = Self.turns[still.exifOrientation] ?? 0
    } catch {
      throw CaptureError(error, of: path)
    }
  }

  /// The first of `paths` that is complete. If none is, throws the error of the first.
  init(firstReadable paths: some Sequence<FilePath>) throws(CaptureError) {
    var problem: CaptureError?
    for path in paths {
      do throws(CaptureError) {
        try self.init(path)
        return
      } catch {
        problem = problem ?? error
      }
    }
    throw problem ?? CaptureError(file: "", problem: "no still")
  }
}
