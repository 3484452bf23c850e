import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Programs for comparison, by their names in `--compare`.
public enum Peer: String, CaseIterable, Sendable {
  /// Both command lines of ffmpeg.
  case ffmpeg
  /// Only the faster one of the two.
  case tunedFFmpeg = "ffmpeg-tuned"
  case openCV = "opencv"
}

/// Searches for peers on this machine.
public struct PeerFinder: Sendable {
  private let runner: ProgramRunner

  init(_ runner: ProgramRunner) { self.runner = runner }

  /// An available peer.
  public struct Found: Hashable, Sendable {
    var peer: Peer
    public var version: String
    var commands: [PeerCommand]
  }

  /// A missing peer, with what to do about it.
  public struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    var peer: Peer
    public var description: String
  }

  /// - Throws: `Missing`.
  ///
  /// Cost: starts the program; for OpenCV every `python3` in PATH until one has it.
  public func find(_ peer: Peer) throws(Missing) -> Found {
    switch peer {
    case .ffmpeg, .tunedFFmpeg:
      guard let program = Self.programs("ffmpeg").first else {
        throw Missing(
          peer: peer,
          description: "there is no ffmpeg in PATH: install it (on Debian: apt install ffmpeg)")
      }
      let tuned = PeerCommand.tunedFFmpeg(program)
      return Found(
        peer: peer, version: Self.version(ofFFmpeg: words(program, ["-version"]) ?? ""),
        commands: peer == .ffmpeg ? [.ffmpeg(program), tuned] : [tuned])
    case .openCV:
      for python in Self.programs("python3") {
        if let version = words(python, ["-c", OpenCVScript.version]) {
          return Found(peer: peer, version: version, commands: [.openCV(python)])
        }
      }
      throw Missing(
        peer: peer,
        description:
          "no python3 in PATH has OpenCV: pip install opencv-python-headless, or put the "
          + "folder of a python3 that has it first in PATH")
    }
  }

  /// Every program of this name in PATH, in order.
  private static func programs(_ name: String) -> [String] {
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return search.split(separator: ":").compactMap { folder in
      let path = FilePath(String(folder)).appending(name)
      let isProgram = path.withPlatformString { access($0, X_OK) } == 0
      return isProgram && !FileSystem.isFolder(path) ? path.string : nil
    }
  }

  /// The first line that it prints; `nil` when it fails or prints nothing.
  private func words(_ program: String, _ arguments: [String]) -> String? {
    guard let outcome = try? runner.run(program, arguments), outcome.end.isSuccess else {
      return nil
    }
    return String(decoding: outcome.output.prefix(4096), as: UTF8.self)
      .split(whereSeparator: \.isNewline).first.map(String.init)
  }

  /// The third word of `ffmpeg version 5.1.7-0+deb12u1 Copyright …`.
  static func version(ofFFmpeg line: String) -> String {
    let words = line.split(separator: " ")
    return words.count > 2 && words[1] == "version" ? String(words[2]) : "unknown"
  }
}

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
