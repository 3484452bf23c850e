import Captures
import Media
import Core
import Processing
import SystemPackage

/// Finds some pictures of a video quickly.
struct VideoThumbnails {
  private let color: ColorStream
  private let file: FilePath
  private let track: Int

  init(_ color: ColorStream, file: FilePath, track: Int) {
    (self.color, self.file, self.track) = (color, file, track)
  }

  /// How many pictures from the beginning are decoded if key pictures are too rare.
  private static let mostDecoded = 150

  /// Reduced pictures near some display indices, by canonical frame. These are key pictures, each
  /// decoded alone; if fewer than half of the indices have one, pictures from the beginning of the
  /// video.
  func pictures(
    near wanted: [Int], _ most: (width: Int, height: Int)
  ) throws -> [(frame: Int, color: ColorImage?)] {
    let container = color.description.container
    var found: [(frame: Int, color: ColorImage?)] = []
    var rgb: [UInt8] = []
    var converter = ColorConverter()
    func take(_ picture: DecodedPicture) throws {
      guard let index = picture.displayIndex, let frame = frame(of: index) else { return }
      try picture.rgb(into: &rgb, converter: &converter)
      let image = ColorImage(width: picture.width, height: picture.height, rgb: rgb)
      found.append((frame, SourcePreview.small(image, most)))
    }
    if let order = color.order {
      _ = try KeyPictures.read(
        file, container: container, track: track, order: order,
        orientation: color.orientation, wanted: wanted, take)
    }
    if 2 * found.count >= wanted.count, !found.isEmpty { return found }
    found = []
    let reach = min(Self.mostDecoded, (wanted.last ?? 0) + 1)
    let places = Set(SourcePreview.centers(of: reach, count: wanted.count))
    let decoder = try VideoDecoder(
      file, container: container, track: track, order: color.order,
      orientation: color.orientation)
    while let picture = try decoder.next(), picture.outputIndex < Self.mostDecoded {
      // Pictures before the first decodable one have no index; any picture is better than none.
      if picture.displayIndex.map(places.contains) ?? false { try take(picture) }
      if picture.displayIndex.map({ $0 >= reach }) ?? false { break }
    }
    return found
  }

  private func frame(of picture: Int) -> Int? {
    guard let frames = color.frameOfPicture else { return picture }
    return frames.indices.contains(picture) ? frames[picture] : nil
  }
}
