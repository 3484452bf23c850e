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
