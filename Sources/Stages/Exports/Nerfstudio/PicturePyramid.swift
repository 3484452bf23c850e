import Core
import Engine
import Media
import Processing

/// Smaller pictures under the names that nerfstudio looks for: `images_2`, `images_4`, `images_8`, and masks and depth
/// beside them.
///
/// A pixel is the mean of 2×2, 4×4 or 8×8 pixels. Rows and columns that fill no whole pixel are left out, so that the
/// intrinsics divided by 2, 4 or 8, from the corner of the corner pixel, are exact.
enum PicturePyramid {
  static let parameter = Parameter(
    "pyramid", .flag, default: false,
    "Also images_2, images_4 and images_8 (means of areas) with masks and depth, which nerfstudio takes for pictures "
      + "above 1,600 pixels and with downscale-factor."
  ).added()

  private static let factors = [2, 4, 8]

  /// - Parameter names: of pictures, masks and depth in the folder, such as `images/frame_000012.png`.
  static func write(
    _ frames: [Int], pictures: ExportPictures, names: [String],
    masks: (pictures: ExportPictures, names: [String])?,
    depth: (pictures: ExportPictures, names: [String])?, _ folder: ExportFolder
  ) throws {
    let context = folder.context
    guard context.parameters[parameter] else { return }
    for factor in factors {
      // The reader itself takes every n-th value of depth, whatever the size of the file.
      if let depth {
        try folder.sharePictures(depth.pictures, frames) { position, _, _ in
          name(depth.names[position], factor)
        }
      }
    }
    context.progress.expect(2 * frames.count)
    try context.each(Array(frames.indices)) { (position: Int, scratch: inout Scratch) in
      let picture = try pictures.color(frames[position])
      let mask = try masks.map { try $0.pictures.gray(frames[position]) }
      for factor in factors where min(picture.width, picture.height) >= factor {
        let size = scratch.reduce(picture.rgb, picture.width, picture.height, by: factor)
        let name = name(names[position], factor)
        if name.hasSuffix(".jpg") {
          try scratch.jpeg.encode(rgb: scratch.reduced, width: size.width, height: size.height)
          try context.staging.write(scratch.jpeg.file, as: name)
        } else {
          try scratch.png.encode(rgb: scratch.reduced, width: size.width, height: size.height)
          try context.staging.write(scratch.png.file, as: name)
        }
        guard let masks, let mask else { continue }
        _ = scratch.reduce(
          mask.values.flatMap { [$0, $0, $0] }, mask.width, mask.height, by: factor)
        // A pixel that is partly made of others is not used.
        let values = (0..<size.width * size.height).map { pixel -> UInt8 in
          scratch.reduced[3 * pixel] == 255 ? 255 : 0
        }
        try scratch.gray.encode(
          gray8: values, width: size.width, height: size.height, into: &scratch.file)
        try context.staging.write(scratch.file, as: Self.name(masks.names[position], factor))
      }
    } makeScratch: {
      Scratch(
        png: try PictureWriter(.png, context.parameters),
        jpeg: try PictureWriter(.jpeg, context.parameters),
        gray: PNGWriter(compression: context.parameters[CommonParameters.compression]))
    }
  }

  /// `images_2/frame_000012.png` of `images/frame_000012.png`.
  private static func name(_ name: String, _ factor: Int) -> String {
    name.replacing("/", with: "_\(factor)/", maxReplacements: 1)
  }

  private struct Scratch: ~Copyable {
    var png: PictureWriter
    var jpeg: PictureWriter
    var gray: PNGWriter
    var reduction = AreaReduction()
    var cropped: [UInt8] = []
    var reduced: [UInt8] = []
    var file: [UInt8] = []

    /// Reduces RGB into `reduced`, without what fills no whole pixel at the right and at the bottom.
    mutating func reduce(
      _ rgb: [UInt8], _ width: Int, _ height: Int, by factor: Int
    ) -> (width: Int, height: Int) {
      let size = (width: width / factor, height: height / factor)
      let whole = size.width * factor
      cropped.removeAll(keepingCapacity: true)
      for row in 0..<size.height * factor {
        cropped += rgb[3 * row * width..<3 * (row * width + whole)]
      }
      reduction.reduce(
        cropped, width: whole, height: size.height * factor, toWidth: size.width,
        height: size.height, into: &reduced)
      return size
    }
  }
}
