@testable import Media
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Pictures of a run", .runsPrograms)
struct RerunTests {
  private let scene: Scene

  init() throws {
    scene = try Scene("a", frames: 20)
    try scene.run().succeeds()
  }

  @Test("A depth filter reruns depth and aligned and removes the intermediate again")
  func filter() throws {
    let before = try scene.digests()
    let result = try scene.run("--set depth.range=1.5m..2.5m --json")
    let outcomes = try ExportScene.stages(result).mapValues { $0["outcome"] as? String }
    #expect(outcomes["depth"] == "made" && outcomes["aligned"] == "made")
    #expect(outcomes["color"] == "up-to-date")
    let after = try scene.digests()
    #expect(
      after["a/depth"] != before["a/depth"] && after["a/aligned"] != before["a/aligned"])
    #expect(after["a/depth-frames"] == nil)
    let picture = try PNGReader.depth(at: scene.output.appending("a/depth/000003.png"))
    #expect(picture.millimeters.allSatisfy { $0 == 0 || (1500...2500).contains($0) })
    #expect(picture.millimeters.contains { $0 != 0 })
  }

  @Test("Color pictures are those of the ffmpeg command line, pixel for pixel")
  func ffmpeg() throws {
    let peer = scene.folder.path.appending("peer")
    try FileSystem.makeFolder(peer)
    try Running(
      "/usr/bin/ffmpeg",
      [
        "-loglevel", "error", "-i", scene.file("a.h264").string, "-fps_mode", "passthrough",
        "-start_number", "0", peer.appending("%06d.png").string,
      ]
    ).finish().succeeds()
    let names = try FileSystem.names(in: peer)
    #expect(names.count == 20)
    for name in names {
      let ours = try PNGReader.color(at: scene.output.appending("a/color").appending(name))
      #expect(ours == (try PNGReader.color(at: peer.appending(name))), "\(name)")
    }
  }
}
