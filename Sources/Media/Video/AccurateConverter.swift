import CFFmpeg

/// Converts 8-bit 4:2:0 to RGB. Chroma is interpolated linearly between its sample positions, and
/// results are rounded to nearest (within 0.02 of a step of the exact value).
struct AccurateConverter {
  /// Buffers for chroma sums, for chroma of every column, and for pixels; reused for every row.
  private var sums: [Int16] = []
  private var chroma: [UInt32] = []
  private var words: [UInt32] = []

  /// Whether the frame has a supported format.
  static func accepts(_ frame: UnsafePointer<AVFrame>) -> Bool {
    [AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NV12].contains {
      $0.rawValue == frame.pointee.format
    } && frame.pointee.width > 0 && frame.pointee.height > 0
  }

  /// Writes rows without padding. `rgb` must be large enough.
  mutating func convert(
    _ frame: UnsafePointer<AVFrame>, _ tags: ColorTags, into rgb: inout [UInt8]
  ) {
    let isFull = tags.isFullRange ?? (frame.pointee.format == AV_PIX_FMT_YUVJ420P.rawValue)
    switch (tags.matrix, isFull) {
    case (SWS_CS_ITU709, false): convert(frame, BT709Limited.self, into: &rgb)
    case (SWS_CS_ITU709, true): convert(frame, BT709Full.self, into: &rgb)
    case (SWS_CS_FCC, false): convert(frame, FCCLimited.self, into: &rgb)
    case (SWS_CS_FCC, true): convert(frame, FCCFull.self, into: &rgb)
    case (SWS_CS_SMPTE240M, false): convert(frame, SMPTE240MLimited.self, into: &rgb)
    case (SWS_CS_SMPTE240M, true): convert(frame, SMPTE240MFull.self, into: &rgb)
    case (SWS_CS_BT2020, false), (ColorTags.bt2020Constant, false):
      convert(frame, BT2020Limited.self, into: &rgb)
    case (SWS_CS_BT2020, true), (ColorTags.bt2020Constant, true):
      convert(frame, BT2020Full.self, into: &rgb)
    case (_, false): convert(frame, BT601Limited.self, into: &rgb)
    case (_, true): convert(frame, BT601Full.self, into: &rgb)
    }
  }

  private mutating func convert<Weights: AccurateWeights>(
    _ frame: UnsafePointer<AVFrame>, _: Weights.Type, into rgb: inout [UInt8]
  ) {
    let width = Int(frame.pointee.width)
    let height = Int(frame.pointee.height)
    let chromaWidth = (width + 1) / 2
    let siting = ChromaSiting(frame.pointee.chroma_location)
    let isInterleaved = frame.pointee.format == AV_PIX_FMT_NV12.rawValue

    // A neighbor on each side, so that edges need no test.
    let sumStride = chromaWidth + 2
    resize(&sums, 2 * sumStride)
    resize(&chroma, 2 * chromaWidth)
    resize(&words, width)
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    guard let luma = data.0, let u = data.1, let v = isInterleaved ? u + 1 : data.2 else { return }
    let step = isInterleaved ? 2 : 1
    let uStride = Int(strides.1)
    let vStride = isInterleaved ? uStride : Int(strides.2)

    sums.withUnsafeMutableBufferPointer { sums in
      chroma.withUnsafeMutableBufferPointer { chroma in
        words.withUnsafeMutableBufferPointer { words in
          rgb.withUnsafeMutableBytes { rgb in
            guard let sums = sums.baseAddress, let chroma = chroma.baseAddress,
              let words = words.baseAddress, let rgb = rgb.baseAddress
            else { return }
            let wide = UnsafeRawPointer(chroma).assumingMemoryBound(to: Int16.self)
            for y in 0..<height {
              let rows = siting.rows(y, (height + 1) / 2)
              AccurateKernels.sumRows(
                u + rows.near * uStride, u + rows.far * uStride, step, rows.weight, chromaWidth,
                sums)
              AccurateKernels.sumRows(
                v + rows.near * vStride, v + rows.far * vStride, step, rows.weight, chromaWidth,
                sums + sumStride)
              AccurateKernels.widen(sums, chromaWidth, siting.isBetweenColumns, chroma)
              AccurateKernels.widen(
                sums + sumStride, chromaWidth, siting.isBetweenColumns, chroma + chromaWidth)
              AccurateKernels.combine(
                Weights.self, luma + y * Int(strides.0), wide, wide + 2 * chromaWidth, width, words)
              AccurateKernels.pack(words, width, rgb + y * width * 3)
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

/// Position of chroma samples relative to luma.
private struct ChromaSiting {
  /// Whether chroma is between two columns (as in JPEG) rather than on the even ones.
  var isBetweenColumns: Bool
  /// Whether chroma is on the even rows rather than between two.
  var isOnRows: Bool

  /// Untagged H.264 has it on even columns, between rows (ITU-T H.264, E.2.1, chroma_loc_info).
  init(_ location: AVChromaLocation) {
    isBetweenColumns = [AVCHROMA_LOC_CENTER, AVCHROMA_LOC_TOP].contains(location)
    isOnRows = [AVCHROMA_LOC_TOPLEFT, AVCHROMA_LOC_TOP].contains(location)
  }

  /// The rows of chroma next to row `y` of luma, and the weight of the nearer one out of 4.
  func rows(_ y: Int, _ count: Int) -> (near: Int, far: Int, weight: Int16) {
    let near = y / 2
    if isOnRows { return y % 2 == 0 ? (near, near, 4) : (near, min(near + 1, count - 1), 2) }
    return (near, y % 2 == 0 ? max(near - 1, 0) : min(near + 1, count - 1), 3)
  }
}
