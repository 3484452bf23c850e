import CFFmpeg

/// A context of libswscale with the settings of the ffmpeg program's scale filter, and frames for
/// outputs that it cannot write directly.
final class ScalerHandle {
  private struct Setup: Equatable {
    var width: Int32
    var height: Int32
    var format: Int32
    var tags: ColorTags
    var isAccurate: Bool
  }

  private var context: OpaquePointer?
  private var setup: Setup?
  private var padded: UnsafeMutablePointer<AVFrame>?
  private var upright: UnsafeMutablePointer<AVFrame>?

  init() { FFmpegLibraries.silence() }

  deinit {
    sws_freeContext(context)
    av_frame_free(&padded)
    av_frame_free(&upright)
  }

  /// Writes `frame` as RGB rows without padding. Returns an FFmpeg status.
  func convert(
    _ frame: UnsafeMutablePointer<AVFrame>, _ tags: ColorTags, isAccurate: Bool,
    into rgb: inout [UInt8]
  ) -> Int32 {
    let width = frame.pointee.width
    let height = frame.pointee.height
    let status = prepare(
      Setup(
        width: width, height: height, format: frame.pointee.format, tags: tags,
        isAccurate: isAccurate))
    guard status >= 0, let context else { return status }
    let rowBytes = width * 3
    // The vector code writes steps of 8 pixels as far as the row's stride allows: it fits a stride
    // of whole vectors; any other needs padding.
    if rowBytes % 16 == 0 && height % 2 == 0 {
      return rgb.withUnsafeMutableBufferPointer { rgb in
        scale(context, frame, to: rgb.baseAddress, stride: rowBytes)
      }
    }
    guard let padded = Self.sized(&padded, width, height, AV_PIX_FMT_RGB24.rawValue),
      let data = padded.pointee.data.0
    else { return scanmill_averror_errno(ENOMEM) }
    let scaled = scale(context, frame, to: data, stride: padded.pointee.linesize.0)
    guard scaled >= 0 else { return scaled }
    rgb.withUnsafeMutableBufferPointer { rgb in
      guard let target = rgb.baseAddress else { return }
      for y in 0..<Int(height) {
        (target + y * Int(rowBytes)).update(
          from: data + y * Int(padded.pointee.linesize.0), count: Int(rowBytes))
      }
    }
    return 0
  }

  private func scale(
    _ context: OpaquePointer, _ frame: UnsafeMutablePointer<AVFrame>,
    to target: UnsafeMutablePointer<UInt8>?, stride: Int32
  ) -> Int32 {
    let data = frame.pointee.data
    let planes: [UnsafePointer<UInt8>?] = [
      UnsafePointer(data.0), UnsafePointer(data.1), UnsafePointer(data.2), UnsafePointer(data.3),
    ]
    let sizes = frame.pointee.linesize
    let targets: [UnsafeMutablePointer<UInt8>?] = [target, nil, nil, nil]
    return sws_scale(
      context, planes, [sizes.0, sizes.1, sizes.2, sizes.3], 0, frame.pointee.height,
      targets, [stride, 0, 0, 0])
  }

  private func prepare(_ new: Setup) -> Int32 {
    if new == setup { return 0 }
    sws_freeContext(context)
    setup = nil
    context = sws_alloc_context()
    guard let context else { return scanmill_averror_errno(ENOMEM) }
    let object = UnsafeMutableRawPointer(context)
    // The ffmpeg program's default is bicubic, which matters here only if there is no fast path.
    let accurately = SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
    let options: [(String, Int32)] = [
      ("sws_flags", SWS_BICUBIC | (new.isAccurate ? accurately : 0)),
      ("srcw", new.width), ("srch", new.height), ("src_format", new.format),
      ("dstw", new.width), ("dsth", new.height), ("dst_format", AV_PIX_FMT_RGB24.rawValue),
    ]
    for (name, value) in options { av_opt_set_int(object, name, Int64(value), 0) }
    // The scale filter sets the chroma position of this format between the rows (in 1/256 rows).
    if new.format == AV_PIX_FMT_YUV420P.rawValue {
      av_opt_set_int(object, "src_v_chr_pos", 128, 0)
    }
    let status = sws_init_context(context, nil, nil)
    guard status >= 0 else { return status }
    applyTags(new.tags, to: context)
    setup = new
    return 0
  }

  private func applyTags(_ tags: ColorTags, to context: OpaquePointer) {
    var inverse: UnsafeMutablePointer<Int32>?
    var table: UnsafeMutablePointer<Int32>?
    var isFull: Int32 = 0
    var targetIsFull: Int32 = 0
    var brightness: Int32 = 0
    var contrast: Int32 = 0
    var saturation: Int32 = 0
    let status = sws_getColorspaceDetails(
      context, &inverse, &isFull, &table, &targetIsFull, &brightness, &contrast, &saturation)
    guard status >= 0, let coefficients = sws_getCoefficients(tags.matrix) else { return }
    if let tagged = tags.isFullRange { isFull = tagged ? 1 : 0 }
    sws_setColorspaceDetails(
      context, coefficients, isFull, coefficients, targetIsFull, brightness, contrast, saturation)
  }

  /// The frame mirrored and turned plane by plane; `nil` for formats whose planes cannot be turned:
  /// chroma with different horizontal and vertical resolution, or several values per byte.
  func turned(
    _ frame: UnsafeMutablePointer<AVFrame>, _ orientation: VideoOrientation
  ) -> UnsafeMutablePointer<AVFrame>? {
    let (turns, isMirrored) = (orientation.clockwiseQuarterTurns, orientation.isMirrored)
    let format = frame.pointee.format
    guard let description = av_pix_fmt_desc_get(AVPixelFormat(rawValue: format)),
      description.pointee.log2_chroma_w == description.pointee.log2_chroma_h,
      description.pointee.flags
        & UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL) == 0
    else { return nil }
    let width = Int(frame.pointee.width)
    let height = Int(frame.pointee.height)
    let swaps = orientation.swapsSides
    guard
      let upright = Self.sized(
        &upright, Int32(swaps ? height : width), Int32(swaps ? width : height), format)
    else { return nil }
    let source = frame.pointee
    let target = upright.pointee
    let shift = Int(description.pointee.log2_chroma_w)
    let planes = [
      (source.data.0, source.linesize.0, target.data.0, target.linesize.0),
      (source.data.1, source.linesize.1, target.data.1, target.linesize.1),
      (source.data.2, source.linesize.2, target.data.2, target.linesize.2),
    ]
    let steps = Self.pixelSteps(description)
    for (number, plane) in planes.enumerated() {
      guard let from = plane.0, let to = plane.2, steps[number] > 0 else { continue }
      let (planeWidth, planeHeight) =
        number > 0 ? (-(-width >> shift), -(-height >> shift)) : (width, height)
      PlaneRotation.turn(
        UnsafeRawPointer(from), stride: Int(plane.1), width: planeWidth, height: planeHeight,
        elementBytes: steps[number], turns: isMirrored && swaps ? (turns + 2) % 4 : turns,
        into: UnsafeMutableRawPointer(to),
        stride: Int(plane.3))
      // Mirroring left and right before a quarter turn equals mirroring top and bottom after it,
      // which is done here as left and right plus half a turn.
      if isMirrored {
        PlaneRotation.mirror(
          UnsafeMutableRawPointer(to), stride: Int(plane.3),
          width: swaps ? planeHeight : planeWidth, height: swaps ? planeWidth : planeHeight,
          elementBytes: steps[number])
      }
    }
    return upright
  }

  /// Distance in bytes between pixels in each of three planes; 0 for planes that do not exist.
  private static func pixelSteps(_ description: UnsafePointer<AVPixFmtDescriptor>) -> [Int] {
    let components = description.pointee.comp
    var steps = [0, 0, 0]
    let all = [components.0, components.1, components.2, components.3]
    for component in all.prefix(Int(description.pointee.nb_components))
    where (0..<3).contains(component.plane) {
      steps[Int(component.plane)] = max(steps[Int(component.plane)], Int(component.step))
    }
    return steps
  }

  /// `frame` with memory for the given size; reused if it fits.
  private static func sized(
    _ frame: inout UnsafeMutablePointer<AVFrame>?, _ width: Int32, _ height: Int32, _ format: Int32
  ) -> UnsafeMutablePointer<AVFrame>? {
    if let frame, frame.pointee.width == width, frame.pointee.height == height,
      frame.pointee.format == format
    {
      return frame
    }
    av_frame_free(&frame)
    frame = av_frame_alloc()
    guard let new = frame else { return nil }
    new.pointee.width = width
    new.pointee.height = height
    new.pointee.format = format
    if av_frame_get_buffer(new, 0) < 0 { av_frame_free(&frame) }
    return frame
  }
}
