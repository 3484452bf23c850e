@testable import Media
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("What an edit list hides", .runsPrograms, .enabled(if: FFmpegPeer.isInstalled))
struct MovieTracksTests {
  /// A movie of 40 pictures, 30 a second, with a key picture every 20.
  static func movie(_ name: String, _ options: [String], in folder: TemporaryFolder) throws
    -> FilePath
  {
    let file = folder.path.appending(name)
    try FFmpegPeer.makeVideo(
      file, size: "64x48", pictures: 40, VideoIdentityTests.x264 + ["-g", "20"] + options)
    return file
  }

  static func trim(_ file: FilePath, to output: String, _ options: [String]) throws -> FilePath {
    let trimmed = file.removingLastComponent().appending(output)
    let status = try PeerProgram.ffmpeg.run(
      ["-nostdin", "-v", "error", "-y"] + options + ["-i", "\(file)", "-c", "copy", "\(trimmed)"])
    try #require(status == 0)
    return trimmed
  }

  @Test(
    "Hidden pictures are counted and timed; pictures stay those of the ffmpeg program",
    arguments: zip(["mp4", "mov"], [2, 0]))
  func hidden(container: String, bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try Self.movie("whole.\(container)", ["-bf", "\(bFrames)"], in: folder)
    let untouched = try #require(try VideoIndex.read(whole).tracks.first)
    #expect(untouched.hidden == HiddenPictures())
    // Times that lie between those of pictures, so that rounding decides nothing; the last one lies behind a key
    // picture, up to which the trimmed movie has no samples at all.
    for (start, hidden, stored) in [
      ("0.085", 3, 40), ("0.32", 10, 40), ("0.885", 7, 20), ("0", 0, 40),
    ] {
      let file = try Self.trim(whole, to: "trimmed.\(container)", ["-ss", start])
      let track = try #require(try VideoIndex.read(file).tracks.first)
      let shown = try FFmpegPeer.pictures(of: file, threads: 1)
      #expect(track.pictureCount == shown.count)
      expectSame(try decodedPictures(of: file).pictures, shown, "\(start)")
      #expect(track.hidden.before == hidden, "\(start)")
      #expect(track.hidden.after == 0, "\(start)")
      #expect(track.pictureCount + hidden == stored, "\(start)")
      let nanoseconds = Int64((Double(hidden) * 1e9 / 30).rounded())
      #expect(abs(track.hidden.nanoseconds - nanoseconds) <= 1, "\(start)")
    }
  }
}
