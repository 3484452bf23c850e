@testable import Media
@testable import Core

/// Pictures to test with.
enum ColorImageOf {
  static func noise(
    width: Int, height: Int, _ generator: inout some RandomNumberGenerator
  ) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for index in image.rgb.indices {
      image.rgb[index] = UInt8.random(in: 0...255, using: &generator)
    }
    return image
  }

  static func png(_ image: inout ColorImage) throws -> [UInt8] {
    var writer = PNGWriter(compression: .fast)
    return try writer.encode(image)
  }
}
