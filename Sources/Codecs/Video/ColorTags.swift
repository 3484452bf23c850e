import CFFmpeg

/// How the values of a frame are to be understood.
struct ColorTags: Equatable {
  /// One of FFmpeg's `SWS_CS_…`.
  var matrix: Int32
  /// `nil`: not tagged; what that means depends on the pixel format.
  var isFullRange: Bool?

  init(of frame: UnsafePointer<AVFrame>, matrix: ColorMatrix?, range: ColorRange?) {
    switch matrix {
    case .bt601: self.matrix = SWS_CS_ITU601
    case .bt709: self.matrix = SWS_CS_ITU709
    case .fcc: self.matrix = SWS_CS_FCC
    case .smpte240m: self.matrix = SWS_CS_SMPTE240M
    case .bt2020: self.matrix = SWS_CS_BT2020
    case nil:
      // As in the scale filter: what swscale has no matrix for (0 RGB, 8 YCgCo, above 10) is BT.601.
      let tag = Int32(bitPattern: frame.pointee.colorspace.rawValue)
      self.matrix = tag < 1 || tag > 10 || tag == 8 ? SWS_CS_ITU601 : tag
    }
    switch range {
    case .limited: isFullRange = false
    case .full: isFullRange = true
    case nil:
      switch frame.pointee.color_range {
      case AVCOL_RANGE_JPEG: isFullRange = true
      case AVCOL_RANGE_MPEG: isFullRange = false
      default: isFullRange = nil
      }
    }
  }

  /// The weights of red and blue in luma.
  var lumaWeights: (red: Double, blue: Double) {
    switch matrix {
    case SWS_CS_ITU709: (0.2126, 0.0722)
    case SWS_CS_FCC: (0.30, 0.11)
    case SWS_CS_SMPTE240M: (0.212, 0.087)
    case SWS_CS_BT2020, 10: (0.2627, 0.0593)
    default: (0.299, 0.114)
    }
  }
}
