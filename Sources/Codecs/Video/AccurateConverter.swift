import CFFmpeg

/// 8-bit 4:2:0 to RGB with chroma interpolated linearly between its sample places and results rounded to
/// nearest (within 0.02 of a step of the exact value).
struct AccurateConverter {
  /// Rows of chroma sums and of the three colors, used again for every row.
  private var sums: [Int16] = []
  private var chroma: [Int16] = []
  private var words: [UInt32] = []

  /// Whether the frame is in one of the formats that are handled here.
  static func accepts(_ frame: UnsafePointer<AVFrame>) -> Bool {
    [AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NV12].contains {
      $0.rawValue == frame.pointee.format
    } && frame.pointee.width > 0 && frame.pointee.height > 0
  }

  /// Writes rows without padding; `rgb` has room for them.
  mutating func convert(
    _ frame: UnsafePointer<AVFrame>, _ tags: ColorTags, into rgb: inout [UInt8]
  ) {
    let width = Int(frame.pointee.width)
    let height = Int(frame.pointee.height)
    let chromaWidth = (width + 1) / 2
    let chromaHeight = (height + 1) / 2
    let isFull =
      tags.isFullRange ?? (frame.pointee.format == AV_PIX_FMT_YUVJ420P.rawValue)
    let weights = AccurateWeights(tags, isFullRange: isFull)
    let siting = ChromaSiting(frame.pointee.chroma_location)
    let isInterleaved = frame.pointee.format == AV_PIX_FMT_NV12.rawValue

    // A neighbor on each side, so that edges need no test.
    let sumStride = chromaWidth + 2
    let chromaStride = 2 * chromaWidth
    resize(&sums, 2 * sumStride)
    resize(&chroma, 2 * chromaStride)
    resize(&words, width + 2)
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    guard let luma = data.0, let u = data.1, let v = isInterleaved ? u + 1 : data.2 else { return }
    let step = isInterleaved ? 2 : 1
    let vStride = Int(isInterleaved ? strides.1 : strides.2)

    sums.withUnsafeMutableBufferPointer { sums in
      chroma.withUnsafeMutableBufferPointer { chroma in
        words.withUnsafeMutableBufferPointer { words in
          rgb.withUnsafeMutableBytes { rgb in
            guard let sums = sums.baseAddress, let chroma = chroma.baseAddress,
              let words = words.baseAddress, let rgb = rgb.baseAddress
            else { return }
            for y in 0..<height {
              let rows = siting.rows(y, chromaHeight)
              AccurateKernels.sumRows(
                u + rows.near * Int(strides.1), u + rows.far * Int(strides.1), step, rows.weight,
                chromaWidth, sums)
              AccurateKernels.sumRows(
                v + rows.near * vStride, v + rows.far * vStride, step, rows.weight, chromaWidth,
                sums + sumStride)
              AccurateKernels.widen(sums, chromaWidth, siting.isBetweenColumns, chroma)
              AccurateKernels.widen(
                sums + sumStride, chromaWidth, siting.isBetweenColumns, chroma + chromaStride)
              AccurateKernels.combine(
                luma + y * Int(strides.0), chroma, chroma + chromaStride, width, weights, words)
              AccurateKernels.pack(
                words, width, rgb + y * width * 3, isLast: y == height - 1)
            }
          }
        }
      }
    }
  }

  private func resize<Element: FixedWidthInteger>(_ array: inout [Element], _ count: Int) {
    if array.count != count { array = [Element](repeating: 0, count: count) }
  }
}

/// Where chroma was sampled in relation to luma.
private struct ChromaSiting {
  /// Between two columns (as in JPEG), not on the even ones.
  var isBetweenColumns: Bool
  /// On the even rows, not between two.
  var isOnRows: Bool

  /// Untagged H.264 has it on even columns, between rows (ITU-T H.264, E.2.1, chroma_loc_info).
  init(_ location: AVChromaLocation) {
    isBetweenColumns = [AVCHROMA_LOC_CENTER, AVCHROMA_LOC_TOP, AVCHROMA_LOC_BOTTOM].contains(
      location)
    isOnRows = [AVCHROMA_LOC_TOPLEFT, AVCHROMA_LOC_TOP].contains(location)
  }

  /// The rows of chroma that row `y` of luma lies between, and the near one's weight out of 4.
  func rows(_ y: Int, _ count: Int) -> (near: Int, far: Int, weight: Int16) {
    let near = y / 2
    if isOnRows { return y % 2 == 0 ? (near, near, 4) : (near, min(near + 1, count - 1), 2) }
    return (near, y % 2 == 0 ? max(near - 1, 0) : min(near + 1, count - 1), 3)
  }
}
