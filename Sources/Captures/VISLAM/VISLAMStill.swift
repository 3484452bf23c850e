import Codecs
import SystemPackage

/// What one still tells of all stills of a session.
struct VISLAMStill {
  /// `png` or `jpeg`, by the first bytes.
  let encoding: String
  let storedWidth: Int
  let storedHeight: Int
  /// Upright size.
  let width: Int
  let height: Int
  /// The turn that the EXIF orientation asks for; mirroring not counted.
  let clockwiseQuarterTurns: Int

  /// The first of `paths` whose head and parts are whole. Throws what is wrong with the first when none can.
  init(firstReadable paths: some Sequence<FilePath>) throws(CaptureError) {
    var problem: CaptureError?
    for path in paths {
      do throws(ImageError) {
        self.init(try StillImage.head(path))
        return
      } catch {
        if problem == nil {
          problem = CaptureError(
            file: path, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy)
        }
      }
    }
    throw problem ?? CaptureError(file: "", problem: "no still")
  }

  private init(_ still: StillImage.Head) {
    encoding = still.isJPEG ? "jpeg" : "png"
    (storedWidth, storedHeight) = (still.storedWidth, still.storedHeight)
    (width, height) = still.uprightSize
    clockwiseQuarterTurns =
      [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3][still.exifOrientation] ?? 0
  }
}
