import CFFmpeg
import CZimg
import Core
import SystemPackage

/// A graph of zimg: from decoded planes to red, green and blue, row by row, without a picture in
/// between. Must be used by one thread at a time.
final class PlaneGraph {
  /// What rows hold.
  enum Output: Equatable {
    /// `Float`: linear light with the primaries of BT.709; 1 is SDR white.
    case light
    /// `UInt16`: the video's own signals, 0…65535.
    case signals
  }

  /// What a graph is made for.
  struct Layout: Equatable {
    var width: Int32
    var height: Int32
    var format: Int32
    var chromaLocation: UInt32

    init(_ frame: UnsafePointer<AVFrame>) {
      width = frame.pointee.width
      height = frame.pointee.height
      format = frame.pointee.format
      chromaLocation = UInt32(frame.pointee.chroma_location.rawValue)
    }
  }

  let layout: Layout
  private let graph: OpaquePointer
  private let planes: PlaneFormat
  private let mask: UInt32
  private let rowBytes: Int
  private let planeBytes: Int
  private let memory: UnsafeMutableRawPointer
  private let rows: UnsafeMutableRawPointer
  /// Copies of planes that do not lie as zimg needs them.
  private var copies: [UnsafeMutableRawPointer?] = [nil, nil, nil]
  private var copyBytes = [0, 0, 0]

  private static let alignment = 64

  init(
    _ frame: UnsafePointer<AVFrame>, _ source: LightSource, _ output: Output
  ) throws(VideoError) {
    if let problem = ZimgLibrary.problem { throw VideoError(file: "", what: problem) }
    layout = Layout(frame)
    planes = try PlaneFormat(frame)
    var from = planes.zimgFormat(frame)
    from.matrix_coefficients = .init(
      rawValue: numericCast(planes.isRGB ? 0 : planes.isGray ? 2 : source.matrix))
    from.pixel_range = source.isFullRange ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED
    var to = scanmill_zimg_format()
    to.width = from.width
    to.height = from.height
    to.color_family = ZIMG_COLOR_RGB
    to.matrix_coefficients = ZIMG_MATRIX_RGB
    to.pixel_range = ZIMG_RANGE_FULL
    var settings = scanmill_zimg_params()
    switch output {
    case .light:
      from.transfer_characteristics = .init(rawValue: numericCast(source.transfer ?? 2))
      from.color_primaries = .init(rawValue: numericCast(source.primaries))
      to.transfer_characteristics = ZIMG_TRANSFER_LINEAR
      to.color_primaries = ZIMG_PRIMARIES_BT709
      to.pixel_type = ZIMG_PIXEL_FLOAT
      to.depth = 32
      settings.nominal_peak_luminance = ToneMapping.white
      settings.allow_approximate_gamma = 1
    case .signals:
      // Without tags zimg changes neither transfer nor primaries.
      from.transfer_characteristics = ZIMG_TRANSFER_UNSPECIFIED
      from.color_primaries = ZIMG_PRIMARIES_UNSPECIFIED
      to.transfer_characteristics = ZIMG_TRANSFER_UNSPECIFIED
      to.color_primaries = ZIMG_PRIMARIES_UNSPECIFIED
      to.pixel_type = ZIMG_PIXEL_WORD
      to.depth = 16
    }
    guard let graph = scanmill_zimg_build(&from, &to, &settings) else {
      throw VideoError(
        file: "",
        what: "zimg cannot convert \(planes.name) with matrix \(source.matrix), transfer "
          + "\(source.transferName) and primaries \(source.primariesName): \(ZimgLibrary.lastError)"
      )
    }
    var bytes = 0
    var lines: UInt32 = 0
    guard scanmill_zimg_needs(graph, &bytes, &lines) == 0 else {
      scanmill_zimg_free(graph)
      throw VideoError(file: "", what: "zimg: \(ZimgLibrary.lastError)")
    }
    self.graph = graph
    let height = Int(layout.height)
    lines = min(lines, UInt32(height))
    // A whole picture has no mask.
    let chosen = scanmill_zimg_mask(lines)
    mask = chosen
    let kept = chosen == .max ? height : Int(chosen) + 1
    let sampleBytes = output == .light ? 4 : 2
    rowBytes =
      (Int(layout.width) * sampleBytes + Self.alignment - 1) / Self.alignment * Self.alignment
    planeBytes = rowBytes * kept
    memory = .allocate(byteCount: max(bytes, Self.alignment), alignment: Self.alignment)
    rows = .allocate(byteCount: planeBytes * 3, alignment: Self.alignment)
  }

  deinit {
    scanmill_zimg_free(graph)
    memory.deallocate()
    rows.deallocate()
    for copy in copies { copy?.deallocate() }
  }

  /// A row of red, green and blue, from their first columns.
  struct Rows {
    let red: UnsafeRawPointer
    let planeBytes: Int

    @inline(__always)
    func values<Value>(
      _: Value.Type
    ) -> (UnsafePointer<Value>, UnsafePointer<Value>, UnsafePointer<Value>) {
      (
        red.assumingMemoryBound(to: Value.self),
        (red + planeBytes).assumingMemoryBound(to: Value.self),
        (red + 2 * planeBytes).assumingMemoryBound(to: Value.self)
      )
    }
  }

  private final class Receiver {
    let body: (Int, Range<Int>) -> Void
    init(_ body: @escaping (Int, Range<Int>) -> Void) { self.body = body }
  }

  /// Converts a picture of the graph's layout and hands over its rows; the parts of a row come in any
  /// order.
  func convert(
    _ frame: UnsafePointer<AVFrame>,
    _ receive: @escaping (_ y: Int, _ columns: Range<Int>, _ rows: Rows) -> Void
  ) throws(VideoError) {
    var sources: [UnsafeRawPointer?] = [nil, nil, nil]
    var strides = [0, 0, 0]
    for place in 0..<planes.count {
      guard let plane = planes.plane(place, of: frame) else {
        throw VideoError(file: "", what: "a decoded picture lacks a plane")
      }
      (sources[place], strides[place]) = aligned(plane, place)
    }
    let targets: [UnsafeMutableRawPointer?] = [
      self.rows, self.rows + self.planeBytes, self.rows + 2 * self.planeBytes,
    ]
    let targetStrides = [Int](repeating: self.rowBytes, count: 3)
    let (first, rowBytes, planeBytes, mask) = (self.rows, self.rowBytes, self.planeBytes, self.mask)
    let receiver = Receiver { y, columns in
      let row = UnsafeRawPointer(first) + (mask == .max ? y : Int(UInt32(y) & mask)) * rowBytes
      receive(y, columns, Rows(red: row, planeBytes: planeBytes))
    }
    let status = withExtendedLifetime(receiver) {
      scanmill_zimg_process(
        graph, sources, strides, targets, targetStrides, mask, memory,
        { user, row, left, right in
          guard let user, left <= right else { return 1 }
          Unmanaged<Receiver>.fromOpaque(user).takeUnretainedValue()
            .body(Int(row), Int(left)..<Int(right))
          return 0
        }, Unmanaged.passUnretained(receiver).toOpaque())
    }
    guard status == 0 else {
      throw VideoError(file: "", what: "zimg: \(ZimgLibrary.lastError)")
    }
  }

  /// The plane itself if its address and stride fit zimg's vectors, else a copy.
  private func aligned(
    _ plane: PlaneFormat.Plane, _ place: Int
  ) -> (UnsafeRawPointer, Int) {
    let needed = 32
    if Int(bitPattern: plane.start) % needed == 0, plane.stride > 0, plane.stride % needed == 0 {
      return (plane.start, plane.stride)
    }
    let stride = (plane.rowBytes + Self.alignment - 1) / Self.alignment * Self.alignment
    let count = stride * plane.rows
    if copyBytes[place] < count {
      copies[place]?.deallocate()
      copies[place] = .allocate(byteCount: count, alignment: Self.alignment)
      copyBytes[place] = count
    }
    guard let copy = copies[place] else { return (plane.start, plane.stride) }
    for y in 0..<plane.rows {
      (copy + y * stride).copyMemory(
        from: plane.start + y * plane.stride, byteCount: plane.rowBytes)
    }
    return (UnsafeRawPointer(copy), stride)
  }
}

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

/// The library that converts colors, loaded at its first use.
public enum ZimgLibrary {
  /// Loads it; returns why it cannot be used, with the remedy, or `nil`.
  public static var problem: String? { scanmill_zimg_load().map { String(cString: $0) } }

  /// Version of the library; `missing` if it cannot be loaded.
  public static var version: String {
    guard problem == nil else { return "missing" }
    var numbers: [UInt32] = [0, 0, 0]
    scanmill_zimg_version(&numbers)
    return numbers.map { "\($0)" }.joined(separator: ".")
  }

  /// zimg's text about the last failure in this thread.
  static var lastError: String {
    var text = [CChar](repeating: 0, count: 256)
    scanmill_zimg_error(&text, text.count)
    return String(terminated: text)
  }
}
