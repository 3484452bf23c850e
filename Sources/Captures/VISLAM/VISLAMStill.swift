import Codecs
import Geometry
import Storage
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

  /// The first of `paths` that can be decoded. Throws what is wrong with the first when none can.
  init(firstReadable paths: some Sequence<FilePath>) throws(CaptureError) {
    var problem: CaptureError?
    for path in paths {
      do throws(ImageError) {
        self.init(try StillImage.read(path), isJPEG: Self.isJPEG(path))
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

  private init(_ still: StillImage, isJPEG: Bool) {
    encoding = isJPEG ? "jpeg" : "png"
    (storedWidth, storedHeight) = (still.picture.width, still.picture.height)
    let isSideways = still.exifOrientation >= 5
    (width, height) = isSideways ? (storedHeight, storedWidth) : (storedWidth, storedHeight)
    clockwiseQuarterTurns =
      [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3][still.exifOrientation] ?? 0
  }

  private static func isJPEG(_ path: FilePath) -> Bool {
    guard let file = try? MappedFile(path) else { return false }
    return file.withBytes { $0.littleEndian(UInt16.self, at: 0) == 0xD8FF }
  }
}
