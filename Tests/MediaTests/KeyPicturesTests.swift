@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Media

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
