import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
