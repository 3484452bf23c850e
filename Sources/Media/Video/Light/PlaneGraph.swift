import CFFmpeg
import CZimg
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

  /// What is called for a part of a row: row, columns, and the three rows, from their first columns.
  typealias RowReceiver = (
    _ y: Int, _ columns: Range<Int>, _ red: UnsafeRawPointer, _ green: UnsafeRawPointer,
    _ blue: UnsafeRawPointer
  ) -> Void

  private final class Receiver {
    let body: (Int, Range<Int>) -> Void
    init(_ body: @escaping (Int, Range<Int>) -> Void) { self.body = body }
  }

  /// Converts a picture of the graph's layout and hands over its rows; the parts of a row come in any
  /// order.
  func convert(
    _ frame: UnsafePointer<AVFrame>, _ receive: @escaping RowReceiver
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
      receive(y, columns, row, row + planeBytes, row + 2 * planeBytes)
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
