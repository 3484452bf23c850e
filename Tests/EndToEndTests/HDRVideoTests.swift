@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("HDR and other transfers are told", .runsPrograms, .enabled(if: MovieScene.hasFFmpeg))
struct HDRVideoTests {
  static func tags(_ transfer: String) -> [String] {
    [
      "-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc",
      "-color_range", "tv",
    ]
  }

  /// Ten bits in the codec that the family's container takes.
  static func coder(_ family: String) -> [String] {
    let ten = ["-pix_fmt", "yuv420p10le"]
    return family == "scannet"
      ? ["-c:v", "libx264"] + ten
      : ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"] + ten
  }

  static func text(_ scene: MovieScene) throws -> String {
    try Program.run("inspect \(scene.capture)").output
  }

  @Test(
    "A warning, the tags in both forms of inspect, and pixels that are ffmpeg's",
    arguments: Rounds.every(2, of: MovieScene.families))
  func families(family: String) throws {
    let scene = try MovieScene(family, frames: 4)
    #expect(!MovieScene.warnings(try scene.inspect()).contains { $0.code == "hdr-video" })
    let transfer = family == "multiscan" ? "smpte2084" : "arib-std-b67"
    try scene.encode(Self.coder(family) + Self.tags(transfer))
    let document = try scene.inspect()
    let hdr = MovieScene.warnings(document).filter { $0.code == "hdr-video" }
    #expect(hdr.map(\.count) == [1])
    #expect(hdr.first?.message.contains(transfer) ?? false)
    let color = try #require((document["streams"] as? [String: Any])?["color"] as? [String: Any])
    #expect(color["transfer"] as? String == transfer)
    #expect(color["primaries"] as? String == "bt2020")
    #expect(color["matrix"] as? String == "bt2020nc")
    #expect(color["range"] as? String == "tv")
    #expect(color["bitDepth"] as? Int == 10)
    #expect(color["assumedMatrix"] is NSNull && color["assumedRange"] is NSNull)
    #expect(
      try Self.text(scene).contains(
        "10 bits, transfer \(transfer), primaries bt2020, matrix bt2020nc, limited range\n"))

    let output = try scene.run("out", "--only color")
    let expected = scene.folder.path.appending("expected")
    try FileManager.default.createDirectory(
      atPath: expected.string, withIntermediateDirectories: true)
    try MovieScene.ffmpeg([
      "-threads", "1", "-i", scene.video.string, "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
      "-start_number", "0", "\(expected)/%06d.png",
    ])
    for name in try FileSystem.names(in: expected) {
      let pictures = try [expected, output.appending("color")].map {
        try PNGReader.color(at: $0.appending(name))
      }
      #expect(pictures[0] == pictures[1], "\(name)")
    }
    #expect(try MovieScene.pictures(output).count == FileSystem.names(in: expected).count)
  }

  @Test("Ten bits alone are no warning; untagged movies say what is assumed")
  func assumed() throws {
    let scene = try MovieScene("vi-slam", frames: 3)
    try scene.encode(Self.coder("vi-slam"))
    let document = try scene.inspect()
    #expect(!MovieScene.warnings(document).contains { $0.code == "hdr-video" })
    let color = try #require((document["streams"] as? [String: Any])?["color"] as? [String: Any])
    #expect(color["bitDepth"] as? Int == 10)
    #expect(color["transfer"] is NSNull && color["matrix"] is NSNull)
    #expect(color["assumedMatrix"] as? String == "bt601")
    #expect(
      try Self.text(scene).contains(
        "10 bits, transfer, primaries and matrix untagged, limited range; "
          + "BT.601 assumed as the ffmpeg command line does (color.matrix)"))
  }
}
