import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite struct `Numbers in the index of a movie` {
  private static func number(_ value: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    number(8 + content.count) + Array(type.utf8) + content
  }

  /// A movie with one track that has `tables`, or several empty ones.
  private static func movie(_ tables: [UInt8], tracks: Int = 1, payload: Int = 100) -> [UInt8] {
    let track = box("trak", box("mdia", box("minf", box("stbl", tables))))
    return box("ftyp", Array("qt  ".utf8)) + box("mdat", [UInt8](repeating: 0, count: payload))
      + box("moov", (0..<tracks).flatMap { _ in track })
  }

  private static func table(_ type: String, count: Int, entries: [Int], skipped: [Int] = [])
    -> [UInt8]
  {
    box(type, number(0) + skipped.flatMap(number) + number(count) + entries.flatMap(number))
  }

  private static func check(_ bytes: [UInt8]) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("movie.mov")
    try file.write(bytes)
    let input = try MediaInput(file)
    try MovieValidator.check(input)
    // What passes is read by the other walks as well.
    _ = try MovieTracks(input)
    _ = try MovieLayout(input)
  }

  @Test("A box whose head reaches beyond what holds it is empty, in every walk", arguments: [0, 5])
  func head(size: Int) throws {
    // 64-bit sizes: the second half of the last head belongs to the next box.
    let long = Self.number(1) + Array("abcd".utf8)
    let last = Self.box("trak", Self.box("mdia", Self.box("minf", Self.box("stbl", long))))
    try Self.check(
      Self.box("ftyp", Array("qt  ".utf8)) + Self.box("moov", last)
        + Self.box("free", [UInt8](repeating: 0, count: size)))
  }

  struct Claim: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var fine: [UInt8]
    var wrong: [UInt8]
    /// What the message says.
    var words: [String]
  }

  static let claims = [
    Claim(
      testDescription: "tracks", fine: movie([], tracks: InputLimits.tracksOfMovie.most),
      wrong: movie([], tracks: InputLimits.tracksOfMovie.most + 1), words: ["65 tracks", "64"]),
    Claim(
      testDescription: "samples of one size",
      fine: movie(table("stsz", count: 50, entries: [], skipped: [2])),
      wrong: movie(table("stsz", count: 5_000_000, entries: [], skipped: [2])),
      words: ["5000000 samples"]),
    Claim(
      testDescription: "sizes of samples",
      fine: movie(table("stsz", count: 2, entries: [1, 1], skipped: [0])),
      wrong: movie(table("stsz", count: 3, entries: [1, 1], skipped: [0])),
      words: ["3 samples", "allows only 2"]),
    Claim(
      testDescription: "samples above the limit", fine: movie([]),
      wrong: movie(table("stsz", count: 0xFFFF_FFFF, entries: [], skipped: [1])),
      words: ["4294967295 samples", "\(InputLimits.samplesOfMovie.most)"]),
    Claim(
      testDescription: "times", fine: movie(table("stts", count: 1, entries: [20, 40])),
      wrong: movie(table("stts", count: 1, entries: [1_000_000, 40])), words: ["1000000 samples"]),
    Claim(
      testDescription: "times that are not there", fine: movie([]),
      wrong: movie(table("stts", count: 9, entries: [20, 40])), words: ["9 entries of stts"]),
    Claim(
      testDescription: "delays", fine: movie(table("ctts", count: 1, entries: [20, 40])),
      wrong: movie(table("ctts", count: 2, entries: [20, 40, 16_000_000, 1])),
      words: ["16000020 samples"]),
    Claim(
      testDescription: "chunks", fine: movie(table("stco", count: 2, entries: [1, 2])),
      wrong: movie(table("stco", count: 3, entries: [1, 2])), words: ["3 entries of stco"]),
    Claim(
      testDescription: "long chunks", fine: movie(table("co64", count: 1, entries: [1, 2])),
      wrong: movie(table("co64", count: 2, entries: [1, 2])), words: ["2 entries of co64"]),
    Claim(
      testDescription: "key frames", fine: movie(table("stss", count: 1, entries: [1])),
      wrong: movie(table("stss", count: 2, entries: [1])), words: ["2 entries of stss"]),
    Claim(
      testDescription: "a compressed index", fine: movie([]),
      wrong: box("ftyp", []) + box("moov", box("cmov", [])), words: ["compressed"]),
    Claim(
      testDescription: "boxes in boxes",
      fine: movie([]) + (0..<20).reduce([]) { inner, _ in box("edts", inner) },
      wrong: movie([]) + (0..<200).reduce([]) { inner, _ in box("edts", inner) },
      words: ["33 boxes inside each other"]),
    Claim(
      testDescription: "samples of a fragment",
      fine: movie([]) + box("moof", box("traf", table("trun", count: 4, entries: [0]))),
      wrong: movie([]) + box("moof", box("traf", table("trun", count: 1 << 20, entries: [0]))),
      words: ["1048576 entries of trun"]),
  ]

  @Test(arguments: claims)
  func `what there is room for passes, what there is not is an error with its place`(
    _ claim: Claim
  ) throws {
    try Self.check(claim.fine)
    let error = try #require(throws: VideoError.self) { try Self.check(claim.wrong) }
    for word in claim.words { #expect(error.description.contains(word)) }
    #expect(error.byteOffset != nil)
    #expect(error.description.contains("movie.mov"))
  }

  @Test func `a box that claims more than there is ends the walk`() throws {
    try Self.check(Self.box("ftyp", []) + Self.number(0x7FFF_FFFF) + Array("moov".utf8))
    try Self.check(Self.box("ftyp", []) + Self.number(3) + Array("moov".utf8))
    try Self.check([])
  }
}

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

@Suite("Key pictures by themselves", .enabled(if: FFmpegPeer.isInstalled))
struct KeyPicturesTests {
  enum Coding: String, CaseIterable, CustomTestStringConvertible {
    case mp4, bare, hevc

    var testDescription: String { rawValue }
    var name: String { self == .bare ? "video.h264" : "video.mp4" }
    var arguments: [String] {
      switch self {
      case .mp4, .bare: VideoIdentityTests.x264 + ["-bf", "2", "-g", "12"]
      case .hevc:
        [
          "-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params",
          "log-level=none:bframes=2:keyint=12:min-keyint=12:scenecut=0",
        ]
      }
    }
  }

  private func keys(
    of file: FilePath, _ wanted: [Int]
  ) throws -> (places: [Int?], pictures: [ColorImage]) {
    let track = try #require(try VideoIndex.read(file).tracks.first)
    var found: (places: [Int?], pictures: [ColorImage]) = ([], [])
    var converter = ColorConverter()
    let count = try KeyPictures.read(
      file, track: track.number, order: track.order, orientation: track.orientation, wanted: wanted
    ) { picture in
      var rgb: [UInt8] = []
      try converter.convert(picture, into: &rgb)
      found.places.append(picture.displayIndex)
      found.pictures.append(ColorImage(width: picture.width, height: picture.height, rgb: rgb))
    }
    #expect(count == found.places.count)
    return found
  }

  @Test(
    "They are the pictures that decoding everything gives, at their own places",
    arguments: Coding.allCases)
  func same(coding: Coding) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending(coding.name)
    try FFmpegPeer.makeVideo(file, size: "160x128", pictures: 40, coding.arguments)
    let (all, indices, _) = try decodedPictures(of: file, threads: 1)
    let found = try keys(of: file, [0, 1, 20, 39])
    #expect(found.places.first == .some(0))
    #expect((2...3).contains(found.places.count), "\(found.places)")
    for (place, picture) in zip(found.places, found.pictures) {
      let position = try #require(indices.firstIndex(of: place))
      #expect(all[position] == picture, "place \(place ?? -1)")
    }
    #expect(try keys(of: file, []).places.isEmpty)
    #expect(try keys(of: file, [100]).places.isEmpty)
  }

  @Test(
    "A damaged key picture is passed over; whatever is cut, nothing but pictures or an error comes")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("video.h264")
    try FFmpegPeer.makeVideo(file, size: "160x128", pictures: 40, Coding.bare.arguments)
    let whole = try FileBytes.read(file)
    let broken = folder.path.appending("broken.h264")
    var bytes = whole
    // Inside of the first picture.
    for offset in 1200..<min(2400, bytes.count) { bytes[offset] ^= 0x55 }
    try OutputFile.write(bytes, to: broken)
    #expect(try keys(of: broken, [0]).places != [0])
    for share in 1..<16 {
      try OutputFile.write(Array(whole.prefix(whole.count * share / 16)), to: broken)
      let found = try? keys(of: broken, [0, 20])
      #expect((found?.places.count ?? 0) <= 2)
    }
  }
}
