import CFFmpeg

/// Setup of the FFmpeg libraries for this module.
enum FFmpegLibrary {
  /// Keeps FFmpeg from writing to standard error, which would disturb the progress display;
  /// problems are reported as errors and counts. Every user of the libraries calls this first.
  static func silence() { _ = isSilent }

  private static let isSilent: Bool = {
    scanmill_silence()
    // Limits single allocations: the largest picture takes 400 MB.
    av_max_alloc(1 << 30)
    return true
  }()

  /// FFmpeg's description of an error code.
  static func text(ofError code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard av_strerror(code, &text, text.count) >= 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
