import CFFmpeg

/// FFmpeg's libraries, which are loaded when they are first used and not when the program starts.
public enum FFmpegLibraries {
  /// Loads them now. Why they cannot be used, with the remedy, or `nil`.
  ///
  /// Cost: 30 to 40 ms of CPU time once, nothing when they are loaded.
  public static var problem: String? { scanmill_ffmpeg_load().map { String(cString: $0) } }

  /// The same without loading where they seem to be in place: all their files are there.
  public static var obviousProblem: String? {
    let all = [scanmill_avutil, scanmill_swscale, scanmill_avcodec, scanmill_avformat]
    return all.allSatisfy { scanmill_ffmpeg_file_version($0) != 0 } ? nil : problem
  }
}
