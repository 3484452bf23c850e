import CFFmpeg

/// The color tags of a frame.
struct ColorTags: Equatable {
  /// FFmpeg's value for BT.2020 with constant luminance, which swscale treats as the non-constant
  /// one.
  static let bt2020Constant = Int32(bitPattern: AVCOL_SPC_BT2020_CL.rawValue)

  /// One of FFmpeg's `SWS_CS_…`.
  var matrix: Int32
  /// `nil`: not tagged; the default depends on the pixel format.
  var isFullRange: Bool?

  /// Whether swscale has a matrix for a tag (ITU-T H.273); it uses BT.601 for others.
  static func isKnown(matrix tag: Int) -> Bool {
    // 0 is RGB, 2 unspecified, 3 reserved, 8 YCgCo.
    (1...10).contains(tag) && ![2, 3, 8].contains(tag)
  }

  init(of frame: UnsafePointer<AVFrame>, matrix: ColorMatrix?, range: ColorRange?) {
    switch matrix {
    case .bt601: self.matrix = SWS_CS_ITU601
    case .bt709: self.matrix = SWS_CS_ITU709
    case .fcc: self.matrix = SWS_CS_FCC
    case .smpte240m: self.matrix = SWS_CS_SMPTE240M
    case .bt2020: self.matrix = SWS_CS_BT2020
    case nil:
      // As in FFmpeg's scale filter: tags without a matrix in swscale (0 RGB, 8 YCgCo, above 10)
      // mean BT.601.
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
}
