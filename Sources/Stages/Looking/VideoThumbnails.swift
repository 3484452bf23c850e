import Captures
import Codecs
import Geometry
import Processing
import SystemPackage

/// Some pictures of a video, at once.
struct VideoThumbnails {
  private let color: ColorStream
  private let file: FilePath
  private let track: Int

  init(_ color: ColorStream, file: FilePath, track: Int) {
    (self.color, self.file, self.track) = (color, file, track)
  }

  /// Where key pictures are too rare: so many pictures from the beginning are decoded.
  private static let mostDecoded = 150

  /// Pictures near some places in display order, by canonical frame, already small: key pictures, of which
  /// each is decoded alone; where fewer than half of the places have one, pictures of the video's beginning.
  func pictures(
    near wanted: [Int], _ most: (width: Int, height: Int)
  ) throws -> [(frame: Int, color: ColorImage?)] {
    let isBare = color.description.encoding == "h264-annexb"
    var found: [(frame: Int, color: ColorImage?)] = []
    var rgb: [UInt8] = []
    var converter = ColorConverter()
    func take(_ picture: DecodedPicture) throws {
      guard let index = picture.index, let frame = frame(of: index) else { return }
      try picture.rgb(into: &rgb, converter: &converter)
      let image = ColorImage(width: picture.width, height: picture.height, rgb: rgb)
      found.append((frame, SourcePreview.small(image, most)))
    }
    if let order = color.order {
      _ = try KeyPictures.read(
        file, container: isBare ? .annexB : .any, track: track, order: order, wanted: wanted, take)
    }
    if 2 * found.count >= wanted.count, !found.isEmpty { return found }
    found = []
    let reach = min(Self.mostDecoded, (wanted.last ?? 0) + 1)
    let places = Set(SourcePreview.centers(of: reach, count: wanted.count))
    let decoder = try VideoDecoder(
      file, container: isBare ? .annexB : .any, track: track, order: color.order)
    while let picture = try decoder.next(), picture.ordinal < Self.mostDecoded {
      // Pictures before the first that can be decoded have no place; any is better than none.
      if picture.index.map(places.contains) ?? false { try take(picture) }
      if picture.index.map({ $0 >= reach }) ?? false { break }
    }
    return found
  }

  private func frame(of picture: Int) -> Int? {
    guard let frames = color.frameOfPicture else { return picture }
    return frames.indices.contains(picture) ? frames[picture] : nil
  }
}
