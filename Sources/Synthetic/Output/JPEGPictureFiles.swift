import Media
import Core

/// Encodes color as JPEG files, with the damage of single frames.
struct JPEGPictureFiles {
  private let quality = 92

  /// The file of a picture; `nil` if none is written.
  func file(_ image: ColorImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    try edit.file {
      try encoded(image)
    } otherSize: {
      try encoded(Self.halved(image))
    }
  }

  private func encoded(_ image: ColorImage) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: quality)
    var file: [UInt8] = []
    try writer.encode(rgb: image.rgb, width: image.width, height: image.height, into: &file)
    return file
  }

  private static func halved(_ image: ColorImage) -> ColorImage {
    let (width, height) = (image.width / 2, image.height / 2)
    var rgb: [UInt8] = []
    rgb.reserveCapacity(width * height * 3)
    for row in 0..<height {
      for column in 0..<width {
        let at = (row * 2 * image.width + column * 2) * 3
        rgb += image.rgb[at..<at + 3]
      }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }
}
