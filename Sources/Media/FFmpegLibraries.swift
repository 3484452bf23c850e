import CFFmpeg

/// Loads FFmpeg's libraries, at their first use rather than at the start of the program.
public enum FFmpegLibraries {
  /// Loads the libraries; returns why they cannot be used, with the remedy, or `nil`.
  ///
  /// Cost: 30 to 40 ms of CPU time at the first call, none later.
  public static var problem: String? { scanmill_ffmpeg_load().map { String(cString: $0) } }

  /// The problem as far as it can be told without loading the libraries: `nil` if all their files exist.
  public static var obviousProblem: String? {
    let all = [scanmill_avutil, scanmill_swscale, scanmill_avcodec, scanmill_avformat]
    return all.allSatisfy { scanmill_ffmpeg_file_version($0) != 0 } ? nil : problem
  }
}
