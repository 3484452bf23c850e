import CFFmpeg
import CZimg
import SystemPackage

/// How the samples of a decoded picture lie, for those formats that zimg reads as they are: one plane
/// for each of the components, 8 to 16 bits, in the byte order of the host.
struct PlaneFormat {
  /// One plane in memory.
  struct Plane {
    var start: UnsafeRawPointer
    var stride: Int
    var rowBytes: Int
    var rows: Int
  }

  let name: String
  let isRGB: Bool
  let isGray: Bool
  /// Number of planes, 1 or 3.
  let count: Int
  private let depth: Int
  private let chromaShift: (x: Int, y: Int)
  /// Which of FFmpeg's planes is Y, U, V or red, green, blue.
  private let order: [Int]

  private var sampleBytes: Int { depth > 8 ? 2 : 1 }

  init(_ frame: UnsafePointer<AVFrame>) throws(VideoError) {
    guard let description = av_pix_fmt_desc_get(AVPixelFormat(rawValue: frame.pointee.format))
    else { throw VideoError(file: "", what: "a picture of an unknown pixel format") }
    name = String(cString: description.pointee.name)
    let flags = description.pointee.flags
    isRGB = flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
    let components = description.pointee.comp
    let all = [components.0, components.1, components.2]
    isGray = description.pointee.nb_components < 3
    count = isGray ? 1 : 3
    depth = Int(all[0].depth)
    chromaShift = (Int(description.pointee.log2_chroma_w), Int(description.pointee.log2_chroma_h))
    order = all.prefix(count).map { Int($0.plane) }
    let unusual =
      AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM
      | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER
    let bytes = depth > 8 ? 2 : 1
    let isPlanar = all.prefix(count).allSatisfy {
      Int($0.step) == bytes && $0.offset == 0 && $0.shift == 0 && Int($0.depth) == depth
        && (0..<3).contains($0.plane)
    }
    guard (8...16).contains(depth), flags & UInt64(unusual) == 0, isPlanar,
      Set(order).count == count
    else {
      throw VideoError(
        file: "",
        what: "color.hdr does not convert pictures of the pixel format \(name): leave it out")
    }
  }

  /// zimg's description without colors.
  func zimgFormat(_ frame: UnsafePointer<AVFrame>) -> zimg_image_format {
    var format = scanmill_zimg_format()
    format.width = UInt32(frame.pointee.width)
    format.height = UInt32(frame.pointee.height)
    format.pixel_type = depth > 8 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE
    format.depth = UInt32(depth)
    format.color_family = isRGB ? ZIMG_COLOR_RGB : isGray ? ZIMG_COLOR_GREY : ZIMG_COLOR_YUV
    if !isRGB, !isGray {
      format.subsample_w = UInt32(chromaShift.x)
      format.subsample_h = UInt32(chromaShift.y)
      // FFmpeg's numbers are larger by one; unspecified is the position of H.264 and HEVC.
      let location = max(0, Int(frame.pointee.chroma_location.rawValue) - 1)
      format.chroma_location = .init(rawValue: numericCast(min(location, 5)))
    }
    return format
  }

  /// The plane of a component; `nil` if the picture lacks it.
  func plane(_ component: Int, of frame: UnsafePointer<AVFrame>) -> Plane? {
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    let all = [(data.0, strides.0), (data.1, strides.1), (data.2, strides.2)]
    guard let start = all[order[component]].0 else { return nil }
    let isChroma = component > 0 && !isRGB
    let width = Int(frame.pointee.width)
    let height = Int(frame.pointee.height)
    return Plane(
      start: UnsafeRawPointer(start), stride: Int(all[order[component]].1),
      rowBytes: (isChroma ? -(-width >> chromaShift.x) : width) * sampleBytes,
      rows: isChroma ? -(-height >> chromaShift.y) : height)
  }
}
