/// A command line of another program that does the work of the color stage.
public struct PeerCommand: Hashable, Sendable {
  /// The name in tables.
  public var name: String
  /// The executable file.
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

  /// The usual command line.
  public static func ffmpeg(_ program: String) -> PeerCommand {
    PeerCommand(name: "ffmpeg, default", program: program, kind: .ffmpeg(encoding: []))
  }

  /// The settings of its PNG encoder that are fastest without giving larger files.
  static func tunedFFmpeg(_ program: String) -> PeerCommand {
    PeerCommand(
      name: "ffmpeg, level 1, up", program: program,
      kind: .ffmpeg(encoding: ["-compression_level", "1", "-pred", "up"]))
  }

  /// - Parameter python: a Python with OpenCV.
  static func openCV(_ python: String) -> PeerCommand {
    PeerCommand(name: "opencv", program: python, kind: .openCV)
  }

  /// Arguments that write every picture of `video` to `folder/000000.png` and so on, with the
  /// program's default number of threads.
  ///
  /// - Parameter ignoresEditList: whether pictures that an edit list hides are written, too, as this
  ///   program does for families whose app hides pictures of the recording.
  public func arguments(
    video: String, folder: String, ignoresEditList: Bool = false
  ) -> [String] {
    switch kind {
    case .ffmpeg(let encoding):
      ["-nostdin", "-v", "error"] + (ignoresEditList ? ["-ignore_editlist", "1"] : [])
        + ["-i", video, "-fps_mode", "passthrough"] + encoding
        + ["-start_number", "0", folder + "/%06d.png"]
    case .openCV:
      ["-c", OpenCVScript.text, video, folder]
        + (ignoresEditList ? ["ignore_editlist;1"] : [])
    }
  }
}

/// A typical script that exports a video with OpenCV in Python: every picture, with OpenCV's
/// settings.
enum OpenCVScript {
  /// For `python3 -c`; arguments: the video, the folder for `000000.png` and so on, and options for
  /// opening the video, if there are any. Exits with
  /// 1 when the video cannot be opened or a picture cannot be written.
  static let text = """
    import os
    import sys
    if len(sys.argv) > 3:
        os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = sys.argv[3]
    import cv2
    video, folder = sys.argv[1:3]
    capture = cv2.VideoCapture(video)
    if not capture.isOpened():
        sys.exit("cv2.VideoCapture cannot open " + video)
    number = 0
    while True:
        good, picture = capture.read()
        if not good:
            break
        if not cv2.imwrite("%s/%06d.png" % (folder, number), picture):
            sys.exit("cv2.imwrite cannot write to " + folder)
        number += 1
    """

  /// Prints the version of OpenCV; exits with 1 if this Python does not have it.
  static let version = "import cv2; print(cv2.__version__)"
}
