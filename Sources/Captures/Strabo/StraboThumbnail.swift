import Media
import SystemPackage

/// The thumbnail that the app makes of a capture. It is checked but never used.
enum StraboThumbnail {
  private static let longestSide = 300

  /// Whether a thumbnail of `width` x `height` fits `media`.
  ///
  /// Those of movies have at most 300 pixels and the movie's aspect, to one pixel; stills may also
  /// have one in full size.
  static func fits(width: Int, height: Int, _ media: StraboMedia) -> Bool {
    let size = media.size
    if !media.isMovie, width == size.width, height == size.height { return true }
    guard max(width, height) <= longestSide, size.width > 0, size.height > 0 else { return false }
    let isWide = size.width >= size.height
    let (long, short) = isWide ? (size.width, size.height) : (size.height, size.width)
    let (thumbLong, thumbShort) = isWide ? (width, height) : (height, width)
    let expected = Double(thumbLong) * Double(short) / Double(long)
    return abs(Double(thumbShort) - expected) <= 1
  }

  static func check(_ path: FilePath, _ media: StraboMedia, _ warnings: WarningCollector) {
    do throws(ImageError) {
      let thumbnail = try StillImage.header(path).uprightSize
      guard !fits(width: thumbnail.width, height: thumbnail.height, media) else { return }
      let (width, height) = media.size
      warnings.add(
        .sizeMismatch, "thumbnail",
        "the app's thumbnail of \(thumbnail.width)x\(thumbnail.height) does not fit "
          + "\(width)x\(height)")
    } catch {
      warnings.add(.corruptRecord, "thumbnail", "the app's thumbnail cannot be read: \(error.what)")
    }
  }
}
