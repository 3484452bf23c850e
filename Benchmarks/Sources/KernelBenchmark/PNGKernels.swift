import Media
import Core

/// The writers of pictures.
enum PNGKernels {
  static let all: [Kernel] = [
    color("png-fast", .fast), color("png-compact", .compact),
    color("png-fast-streaked", .fast, Pictures.streakedVideo),
    gray16("png-depth-fast", .fast), gray16("png-depth-compact", .compact),
    Kernel(name: "png-aligned-fast", about: "fast PNG of aligned depth, 1296x968") {
      let depth = Pictures.depth(width: Pictures.width, height: Pictures.height)
      return encoder(depth, .fast)
    },
    Kernel(name: "png-enlarged-fast", about: "fast PNG of depth enlarged 5 times, 1280x960") {
      let small = Pictures.depth(width: 256, height: 192)
      return encoder(Pictures.enlarged(small, times: 5), .fast)
    },
    Kernel(name: "jpeg", about: "JPEG of a video frame, quality 95, 1296x968") {
      let image = Pictures.video()
      let box = WriterBox(try JPEGWriter(quality: 95))
      return { try box.encode(image) }
    },
  ]

  private static func color(
    _ name: String, _ compression: PNGCompression,
    _ picture: @escaping @Sendable () -> ColorImage = { Pictures.video() }
  ) -> Kernel {
    Kernel(name: name, about: "\(compression.rawValue) PNG of a video frame, 1296x968") {
      let image = picture()
      var writer = PNGWriter(compression: compression)
      var file: [UInt8] = []
      return {
        try writer.encode(rgb: image.rgb, width: image.width, height: image.height, into: &file)
        return file.count
      }
    }
  }

  private static func gray16(_ name: String, _ compression: PNGCompression) -> Kernel {
    Kernel(name: name, about: "\(compression.rawValue) PNG of depth, 640x480") {
      encoder(Pictures.depth(), compression)
    }
  }

  private static func encoder(
    _ image: DepthImage, _ compression: PNGCompression
  ) -> () throws -> Int {
    var writer = PNGWriter(compression: compression)
    var file: [UInt8] = []
    return {
      try writer.encode(
        gray16: image.millimeters, width: image.width, height: image.height, into: &file)
      return file.count
    }
  }

  /// A writer that closures can hold.
  private final class WriterBox {
    private var writer: JPEGWriter
    private var file: [UInt8] = []

    init(_ writer: consuming JPEGWriter) {
      self.writer = writer
    }

    func encode(_ image: ColorImage) throws -> Int {
      try writer.encode(rgb: image.rgb, width: image.width, height: image.height, into: &file)
      return file.count
    }
  }
}
