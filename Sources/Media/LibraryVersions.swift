import CDeflate
import CFFmpeg
import CHDF5
import CLZ4
import CPNG
import CPlatform
import CZlib
import CZstd
import Core
import SystemPackage

/// Versions of the libraries that this module uses, as installed on this system, not those of the
/// headers that it was built with.
public enum LibraryVersions {
  /// The libraries of FFmpeg that determine the pictures of a video: another version may decode,
  /// order or convert differently.
  ///
  /// Cost: a tenth of a millisecond if the file names contain the versions, else the libraries are
  /// loaded.
  public static let ofVideo: [String: String] = [
    "libavcodec": text(scanmill_avcodec) { avcodec_version() },
    "libavformat": text(scanmill_avformat) { avformat_version() },
    "libswscale": text(scanmill_swscale) { swscale_version() },
  ]

  /// The library that converts the colors of HDR videos. It is loaded, so ask only where it is used.
  public static let zimg: [String: String] = ["zimg": ZimgLibrary.version]

  /// The version of liblz4, whose compressed bytes may differ from version to version.
  public static let lz4: [String: String] = ["liblz4": text(LZ4_versionString())]
  public static let zstd: [String: String] = ["libzstd": text(ZSTD_versionString())]

  /// All versions that are written to records.
  public static let all: [String: String] =
    ofVideo.merging(
      [
        "libavutil": text(scanmill_avutil) { avutil_version() },
        "libpng": png_get_libpng_ver(nil).map { String(cString: $0) } ?? "unknown",
      ]
    ) { first, _ in first }

  /// All versions that are printed; more than in records.
  public static let shown: [String: String] =
    all.merging(
      [
        "zlib": text(zlibVersion()),
        // Versions of headers: one library does not report its own, and to ask the other loads 30 more.
        "libdeflate": LIBDEFLATE_VERSION_STRING,
        "libhdf5": text(scanmill_hdf5_version()),
      ]
    ) { first, _ in first }
    .merging(zimg) { first, _ in first }
    .mapValues { $0 == missing ? "not installed" : $0 }

  /// What records contain for a library of FFmpeg that cannot be loaded.
  private static let missing = "missing"

  private static func text(_ version: UnsafePointer<CChar>?) -> String {
    version.map { String(cString: $0) } ?? "unknown"
  }

  /// - Parameter loaded: asks the library for its version.
  private static func text(_ library: scanmill_ffmpeg, _ loaded: () -> UInt32) -> String {
    if scanmill_ffmpeg_is_loaded(library) == 0 {
      let version = scanmill_ffmpeg_file_version(library)
      if version != 0 { return text(version) }
    }
    return FFmpegLibraries.problem(library) == nil ? text(loaded()) : missing
  }

  /// FFmpeg packs `major.minor.micro` as 16, 8 and 8 bits.
  private static func text(_ number: UInt32) -> String {
    "\(number >> 16).\(number >> 8 & 0xff).\(number & 0xff)"
  }
}

/// FFmpeg's libraries, loaded at their first use rather than at the start of the program, and their setup.
public enum FFmpegLibraries {
  /// Loads all libraries, or those alone that decode a video without a container; returns why they cannot be used, with
  /// the remedy, or `nil`.
  ///
  /// Cost: 15 to 25 ms of CPU time at the first call, a third of it for containers; none later.
  public static func problem(withContainers: Bool = true) -> String? {
    problem(withContainers ? scanmill_avformat : scanmill_avcodec)
  }

  fileprivate static func problem(_ last: scanmill_ffmpeg) -> String? {
    scanmill_ffmpeg_load(last).map { String(cString: $0) }
  }

  /// The problem as far as it can be told without loading the libraries: `nil` if all their files exist.
  public static var obviousProblem: String? {
    let all = [scanmill_avutil, scanmill_swscale, scanmill_avcodec, scanmill_avformat]
    return all.allSatisfy { scanmill_ffmpeg_file_version($0) != 0 } ? nil : problem()
  }

  /// Keeps FFmpeg from writing to standard error, which would disturb the progress display;
  /// problems are reported as errors and counts. Every user of the libraries calls this first.
  static func silence() { _ = isSilent }

  private static let isSilent: Bool = {
    scanmill_silence()
    // Limits single allocations: the largest picture takes 400 MB.
    av_max_alloc(1 << 30)
    return true
  }()

  /// Throws for an error code.
  static func check(_ status: Int32, _ file: FilePath, _ what: String) throws(VideoError) {
    guard status < 0 else { return }
    throw VideoError(file: file, what: "\(what): \(text(ofError: status))")
  }

  /// Frees a context of `MediaInput` or `MediaOutput` with its buffer.
  static func free(_ io: UnsafeMutablePointer<AVIOContext>?) {
    guard let io else { return }
    av_free(io.pointee.buffer)
    var context: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&context)
  }

  /// FFmpeg's description of an error code.
  static func text(ofError code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard av_strerror(code, &text, text.count) >= 0 else { return "error \(code)" }
    return String(terminated: text)
  }
}

/// Instruction sets that the inner loops use beyond the baseline of the architecture.
public enum ProcessorFeatures {
  /// The architecture that this program was built for.
  static let architecture: String = {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other"
    #endif
  }()

  /// Names of the instruction sets in use; may be empty. They do not change results.
  public static let inUse: [String] = scanmill_gray_has_wide() ? ["AVX2", "BMI1", "BMI2"] : []

  /// One line for the output of `--version`.
  public static let text =
    architecture + (inUse.isEmpty ? "" : " with " + inUse.joined(separator: ", "))
}
