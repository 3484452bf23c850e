import CFFmpeg

/// The FFmpeg libraries as this room uses them.
enum FFmpegLibrary {
  /// Keeps FFmpeg from writing to standard error, where it would tear the progress display; what it has
  /// to say comes back as errors and counts. Every user of the libraries calls this first.
  static func silence() { _ = isSilent }

  private static let isSilent: Bool = {
    scanmill_silence()
    // No single piece of memory is larger: the largest picture takes 400 MB.
    av_max_alloc(1 << 30)
    return true
  }()

  /// FFmpeg's words for an error code.
  static func text(ofError code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard av_strerror(code, &text, text.count) >= 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
