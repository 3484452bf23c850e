@testable import Media
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Benchmarking

@Suite struct PeerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("Each peer has its command line")
  func commands() {
    let plain = PeerCommand.ffmpeg("/bin/ffmpeg")
    #expect(plain.name == "ffmpeg, default" && plain.program == "/bin/ffmpeg")
    #expect(
      plain.arguments(video: "v.mp4", folder: "out") == [
        "-nostdin", "-v", "error", "-i", "v.mp4", "-fps_mode", "passthrough", "-start_number", "0",
        "out/%06d.png",
      ])
    #expect(
      plain.arguments(video: "v.mp4", folder: "out", ignoresEditList: true) == [
        "-nostdin", "-v", "error", "-ignore_editlist", "1", "-i", "v.mp4", "-fps_mode",
        "passthrough", "-start_number", "0", "out/%06d.png",
      ])
    let tuned = PeerCommand.tunedFFmpeg("/bin/ffmpeg").arguments(video: "v", folder: "o")
    #expect(tuned.contains("-compression_level") && tuned.contains("up"))
    let python = PeerCommand.openCV("/bin/python3").arguments(video: "v.mp4", folder: "out")
    #expect(python[0] == "-c" && python[2...] == ["v.mp4", "out"])
    #expect(python[1].contains("cv2.VideoCapture(") && python[1].contains("cv2.imwrite("))
    let scripts = PeerCommand.scripts("/bin/python3")
    #expect(scripts.map(\.work) == [.wholeWithPNG, .wholeWithPNG, .wholeWithJPEG])
    let words = scripts.map {
      $0.arguments(video: "c/v.mp4", folder: "out", ignoresEditList: true)
    }
    #expect(Set(words.map { $0[1] }).count == 1, "one script, three encodings")
    #expect(words.map { $0[4] } == ["png", "png", "jpg"])
    #expect(
      words[2].dropFirst(5) == [
        "-ignore_editlist", "1", "-i", "c/v.mp4", "-fps_mode", "passthrough", "-q:v", "2",
      ])
  }

  @Test(
    "The version is found in what ffmpeg prints",
    arguments: [
      ("ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026", "5.1.9-0+deb12u1"),
      ("ffmpeg version N-1 ", "N-1"), ("", "unknown"), ("something else here", "unknown"),
    ])
  func version(line: String, version: String) {
    #expect(FoundPeers.version(ofFFmpeg: line) == version)
  }

  /// Gray pictures, one value each, as `000000.png` and so on.
  private func write(_ values: [UInt8], to name: String, width: Int = 4) throws -> FilePath {
    let place = folder.path.appending(name)
    try FileSystem.makeFolder(place)
    for (index, value) in values.enumerated() {
      var writer = PNGWriter()
      let image = ColorImage(
        width: width, height: 2, rgb: [UInt8](repeating: value, count: 3 * width * 2))
      try OutputFile.write(
        try writer.encode(image), to: place.appending("00000\(index).png"))
    }
    return place
  }

  @Test("Equal pictures are reported as equal, others by how many values differ and by how much")
  func pixels() throws {
    let kept = try KeptPictures(
      of: try write([10, 20, 30], to: "ours"), to: folder.path.appending("kept"))
    let same = try kept.check("p", in: try write([10, 20, 30], to: "same"))
    #expect(same.pictures == 3 && same.ourPictures == 3 && same.comparedPictures == 3)
    #expect(
      same.differingShare == 0 && same.words == "as many as ours (3); pixels are the same")
    let other = try kept.check("p", in: try write([10, 25, 30], to: "other"))
    #expect(other.differingShare == 1.0 / 3 && other.largestDifference == 5)
    #expect(other.words.contains("pixels differ: 33.3 % of the values, by at most 5"))
  }

  @Test("Another number of pictures is reported, and pictures of another size are not compared")
  func count() throws {
    let kept = try KeptPictures(
      of: try write([1, 2, 3, 4], to: "ours"), to: folder.path.appending("kept"))
    let fewer = try kept.check("p", in: try write([1, 2], to: "fewer"))
    #expect(fewer.words.hasPrefix("2, ours are 4: times and sizes are not of the same"))
    #expect(fewer.comparedPictures == 1)
    let turned = try kept.check("p", in: try write([1, 2, 3, 4], to: "turned", width: 3))
    #expect(turned.comparedPictures == 0 && turned.differingShare == nil)
    #expect(turned.words.hasSuffix("contents were not compared"))
    let none = folder.path.appending("none")
    try FileSystem.makeFolder(none)
    #expect(try kept.check("p", in: none).pictures == 0)
  }
}
