@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Indexes of videos")
struct VideoIndexTests {
  static func picture(_ width: Int, _ height: Int, _ number: Int) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for index in image.rgb.indices {
      image.rgb[index] = UInt8(truncatingIfNeeded: index / 3 % width * 2 + number * 17)
    }
    return image
  }

  static func make(
    _ file: FilePath, ticks: [Int64], _ settings: VideoEncoderSettings
  ) throws {
    let encoder = try VideoEncoder(file, settings)
    for (number, time) in ticks.enumerated() {
      try encoder.append(picture(settings.width, settings.height, number), ticks: time)
    }
    try encoder.finish()
  }

  @Test(
    "Uneven times come back in display order",
    arguments: [VideoEncoderSettings.Container.mp4, .mov], [0, 2])
  func unevenTimes(container: VideoEncoderSettings.Container, bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("video")
    let ticks: [Int64] = [0, 20, 40, 80, 100, 160, 180, 181, 300]
    var settings = VideoEncoderSettings(width: 64, height: 48, container: container)
    settings.bFrames = bFrames
    try Self.make(file, ticks: ticks, settings)
    let track = try #require(try VideoIndex.read(file).tracks.first)
    #expect(track.encoding == "h264")
    #expect((track.storedWidth, track.storedHeight) == (64, 48))
    #expect(track.pictureCount == ticks.count)
    let first = try #require(track.presentationTicks.first)
    let base = track.timeBase
    #expect(
      track.presentationTicks.map { base.nanoseconds(ofTicks: $0 - first) }
        == ticks.map { VideoTimeBase(denominator: 600).nanoseconds(ofTicks: $0) })
    #expect(try decodedPictures(of: file).indices == Array(0..<ticks.count))
  }

  @Test("A bare stream has pictures and a size, but no times")
  func bareStream() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("video.mp4")
    let settings = VideoEncoderSettings(width: 324, height: 242, container: .annexB)
    try Self.make(file, ticks: Array(0..<7), settings)
    for container in [VideoContainer.any, .annexB] {
      let track = try #require(try VideoIndex.read(file, container: container).tracks.first)
      #expect(track.encoding == "h264-annexb")
      #expect(track.pictureCount == 7)
      #expect((track.storedWidth, track.storedHeight) == (324, 242))
      #expect(track.presentationTicks.isEmpty)
    }
  }

  @Test("A bare stream cut anywhere counts the pictures that begin in it")
  func everyCut() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.h264")
    try Self.make(
      whole, ticks: Array(0..<4), VideoEncoderSettings(width: 16, height: 16, container: .annexB))
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("cut.h264")
    var last = 0
    for count in 5...bytes.count {
      try file.write(bytes.prefix(count))
      // The first bytes are a start code without a unit.
      let pictures =
        (try? VideoIndex.read(file, container: .annexB))?.tracks.first?.pictureCount ?? 0
      #expect(pictures == last || pictures == last + 1)
      last = pictures
    }
    #expect(last == 4)
  }

  @Test("Start codes across the edges of pieces of a file are found")
  func startCodesAcrossEdges() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("stream.h264")
    // A megabyte is read at a time.
    for shift in -8...8 {
      var bytes = [UInt8](repeating: 0xff, count: (1 << 20) + 64)
      bytes.replaceSubrange(0..<6, with: [0, 0, 0, 1, 0x65, 0x80])
      let place = (1 << 20) + shift
      bytes.replaceSubrange(place..<(place + 5), with: [0, 0, 1, 0x41, 0x80])
      try file.write(bytes)
      #expect(try VideoIndex.read(file, container: .annexB).tracks[0].pictureCount == 2, "\(shift)")
    }
  }

  @Test("A movie without index is refused with the place and a guess at the cause")
  func noIndex() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try Self.make(
      whole, ticks: [0, 20, 40], VideoEncoderSettings(width: 32, height: 32, container: .mp4))
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("killed.mp4")
    try file.write(bytes.prefix(90))
    let error = #expect(throws: VideoError.self) { try VideoIndex.read(file) }
    #expect(error?.file == file)
    #expect(error?.byteOffset == 40)
    #expect(error?.what.contains("no moov atom") == true)
    #expect(error?.description.contains("killed before closing the file") == true)
    #expect(throws: VideoError.self) { try VideoDecoder(file) }

    // In the middle of the index, which is the end of the file.
    try file.write(bytes.dropLast(400))
    let cut = #expect(throws: VideoError.self) { try VideoIndex.read(file) }
    #expect(cut?.what.contains("is cut") == true)
  }

  @Test("What is no video is refused", arguments: ["", "hello, this is text\n", "\u{0}\u{0}"])
  func noVideo(text: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("video.mp4")
    try file.write(text)
    #expect(throws: VideoError.self) { try VideoIndex.read(file) }
    #expect(throws: VideoError.self) { try VideoIndex.read(file, container: .annexB) }
    #expect(throws: VideoError.self) { try VideoDecoder(file) }
    #expect(throws: VideoError.self) { try VideoIndex.read(folder.path) }
    #expect(throws: VideoError.self) { try VideoIndex.read(folder.path.appending("absent")) }
  }

  /// Where the 2x2 part (a, b, c, d) of the matrix of an atom begins.
  static func matrixPlaces(_ type: String, in bytes: [UInt8]) -> [Int] {
    let offset = type == "mvhd" ? 40 : 44
    let name = Array(type.utf8)
    return bytes.indices.dropLast(80).filter { Array(bytes[$0..<($0 + 4)]) == name }
      .map { $0 + offset }
  }

  /// The bytes with the matrix of every atom of a type replaced; factors in 1/65536.
  static func patched(_ bytes: [UInt8], _ type: String, _ matrix: [Int32]) -> [UInt8] {
    var bytes = bytes
    for place in matrixPlaces(type, in: bytes) {
      for (value, offset) in zip(matrix, [0, 4, 12, 16]) {
        for byte in 0..<4 {
          bytes[place + offset + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte))
        }
      }
    }
    return bytes
  }

  static let one: Int32 = 65_536

  @Test(
    "The turn is that of the track's matrix times the movie's",
    arguments: [
      ([one, 0, 0, one], [0, one, -one, 0], 1), ([0, one, -one, 0], [0, one, -one, 0], 2),
      ([0, -one, one, 0], [one, 0, 0, one], 3), ([-one, 0, 0, -one], [0, -one, one, 0], 1),
      ([0, one, -one, 0], [one, 0, 0, one], 1), ([one, 0, 0, one], [one, 0, 0, one], 0),
    ] as [([Int32], [Int32], Int)])
  func matrices(movie: [Int32], track: [Int32], turns: Int) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try Self.make(
      whole, ticks: [0, 20], VideoEncoderSettings(width: 64, height: 32, container: .mp4))
    var bytes = [UInt8](try whole.data())
    bytes = Self.patched(Self.patched(bytes, "mvhd", movie), "tkhd", track)
    let file = folder.path.appending("turned.mp4")
    try file.write(bytes)
    let read = try #require(try VideoIndex.read(file).tracks.first)
    #expect(read.orientation == VideoOrientation(clockwiseQuarterTurns: turns, isIgnored: false))
    #expect(read.uprightWidth == (turns % 2 == 1 ? 32 : 64))
    if FFmpegPeer.isInstalled {
      expectSame(
        try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file), "\(turns)")
    }
  }

  @Test(
    "A matrix that is no turn by 90° leaves the pictures as stored",
    arguments: [
      [46_341, 46_341, -46_341, 46_341], [-46_341, 46_341, 46_341, 46_341], [0, 0, 0, 0],
    ] as [[Int32]])
  func otherMatrices(matrix: [Int32]) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try Self.make(
      whole, ticks: [0, 20], VideoEncoderSettings(width: 64, height: 32, container: .mp4))
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("odd.mp4")
    try file.write(Self.patched(bytes, "tkhd", matrix))
    let read = try #require(try VideoIndex.read(file).tracks.first)
    #expect(read.orientation == VideoOrientation(clockwiseQuarterTurns: 0, isIgnored: true))
    expectSame(
      try decodedPictures(of: file).pictures, try decodedPictures(of: whole).pictures, "stored")
  }

  @Test(
    "A mirrored matrix mirrors before it turns, as ffmpeg does",
    arguments: [
      ([-one, 0, 0, one], 0), ([one, 0, 0, -one], 2), ([0, one, one, 0], 3),
      ([0, -one, -one, 0], 1),
    ] as [([Int32], Int)], ["64x32", "22x38"])
  func mirrors(of example: ([Int32], Int), size: String) throws {
    let (matrix, turns) = example
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    let sides = size.split(separator: "x").compactMap { Int($0) }
    try Self.make(
      whole, ticks: [0, 20],
      VideoEncoderSettings(width: sides[0], height: sides[1], container: .mp4))
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("mirrored.mp4")
    try file.write(Self.patched(bytes, "tkhd", matrix))
    let read = try #require(try VideoIndex.read(file).tracks.first)
    #expect(
      read.orientation
        == VideoOrientation(clockwiseQuarterTurns: turns, isMirrored: true, isIgnored: false))
    let accurate = try decodedPictures(of: file, conversion: .accurate).pictures
    #expect(accurate.first?.width == read.uprightWidth)
    if FFmpegPeer.isInstalled {
      expectSame(
        try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file), "\(turns)")
    }
  }

  @Test("Ticks become nanoseconds exactly, ties away from zero")
  func nanoseconds() {
    #expect(VideoTimeBase(denominator: 600).nanoseconds(ofTicks: 1) == 1_666_667)
    #expect(VideoTimeBase(denominator: 600).nanoseconds(ofTicks: -1) == -1_666_667)
    #expect(VideoTimeBase(denominator: 2_000_000_000).nanoseconds(ofTicks: 1) == 1)
    #expect(VideoTimeBase(denominator: 2_000_000_000).nanoseconds(ofTicks: -1) == -1)
    #expect(
      VideoTimeBase(denominator: 90_000).nanoseconds(ofTicks: 90_000 << 30) == 1_000_000_000 << 30)
    #expect(VideoTimeBase(denominator: 1).nanoseconds(ofTicks: .max) == nil)
    #expect(VideoTimeBase(numerator: .max, denominator: 1).nanoseconds(ofTicks: 1) == nil)
  }
}
