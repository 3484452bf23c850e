import CJPEG

/// Encodes 8-bit RGB pictures as baseline JPEG with chroma at half size (4:2:0); one per worker.
///
/// Cost on one core for a 1296x968 picture: about 4 ms.
public struct JPEGWriter: ~Copyable {
  /// Quality, 1 (smallest file) … 100 (best picture).
  public let quality: Int
  private let handle: UnsafeMutableRawPointer

  /// Throws when out of memory. `quality` is clamped to its range.
  public init(quality: Int) throws(ImageError) {
    guard let handle = tjInitCompress() else {
      throw ImageError(what: "no memory for a JPEG encoder")
    }
    self.quality = min(max(quality, 1), 100)
    self.handle = handle
  }

  deinit {
    tjDestroy(handle)
  }

  /// Encodes the picture into `file`, replacing its content and reusing its storage.
  public mutating func encode(
    rgb: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    guard (1...65_500).contains(width), (1...65_500).contains(height),
      rgb.count == width * height * 3
    else {
      throw ImageError(what: "\(rgb.count) bytes are not an RGB picture of \(width)x\(height)")
    }
    let sampling = Int32(TJSAMP_420.rawValue)
    var size = tjBufSize(Int32(width), Int32(height), sampling)
    if file.count < Int(size) { file = [UInt8](repeating: 0, count: Int(size)) }
    let status = file.withUnsafeMutableBufferPointer { buffer in
      var target = buffer.baseAddress
      return tjCompress2(
        handle, rgb, Int32(width), Int32(width * 3), Int32(height), Int32(TJPF_RGB.rawValue),
        &target, &size, sampling, Int32(quality), Int32(TJFLAG_NOREALLOC))
    }
    guard status == 0 else {
      throw ImageError(what: "JPEG: \(String(cString: tjGetErrorStr2(handle)))")
    }
    file.removeSubrange(Int(size)...)
  }
}
