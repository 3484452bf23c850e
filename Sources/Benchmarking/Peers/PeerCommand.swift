/// A command line of another program that does what the color stage does.
public struct PeerCommand: Hashable, Sendable {
  /// As tables call it.
  public var name: String
  /// The file that is started.
  public var program: String
  private var kind: Kind

  private enum Kind: Hashable {
    case ffmpeg(encoding: [String])
    case openCV
  }

  private init(name: String, program: String, kind: Kind) {
    self.name = name
    self.program = program
    self.kind = kind
  }

  /// What most people run.
  public static func ffmpeg(_ program: String) -> PeerCommand {
    PeerCommand(name: "ffmpeg, default", program: program, kind: .ffmpeg(encoding: []))
  }

  /// The settings of its PNG encoder that take the least time for files that are not larger.
  public static func tunedFFmpeg(_ program: String) -> PeerCommand {
    PeerCommand(
      name: "ffmpeg, level 1, up", program: program,
      kind: .ffmpeg(encoding: ["-compression_level", "1", "-pred", "up"]))
  }

  /// - Parameter python: one that has OpenCV.
  public static func openCV(_ python: String) -> PeerCommand {
    PeerCommand(name: "opencv", program: python, kind: .openCV)
  }

  /// Every picture of `video` as `folder/000000.png` and so on, on as many cores as the program likes.
  public func arguments(video: String, folder: String) -> [String] {
    switch kind {
    case .ffmpeg(let encoding):
      ["-nostdin", "-v", "error", "-i", video, "-fps_mode", "passthrough"] + encoding
        + ["-start_number", "0", folder + "/%06d.png"]
    case .openCV: ["-c", OpenCVScript.text, video, folder]
    }
  }
}
