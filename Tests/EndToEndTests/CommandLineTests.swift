import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The command line", .runsPrograms)
struct CommandLineTests {
  @Test("A dry run writes nothing")
  func dryRun() throws {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let sample = Fixtures.projectRoot.appending("sample-data").string
    let result = try Program.run("run \(sample) --output \(output) -n").succeeds()
    #expect(result.output.contains("never-built"))
    #expect(!FileSystem.exists(output))
  }

  @Test("The truth of the sample data is what `synthesize` writes today")
  func sampleTruth() throws {
    let samples = Fixtures.projectRoot.appending("sample-data")
    let folder = try TemporaryFolder()
    for name in try FileSystem.names(in: samples) where name.hasSuffix(".truth") {
      let truth = try samples.appending(name).appending("truth.json").json()
      let family = try #require(truth["family"] as? String)
      let seed = try #require(truth["seed"] as? String)
      try Program.synthesize(
        """
        \(family) --frames 2 --width 160 --height 120 --seed \(seed) --id made \
        \(family == "scannet" ? Scene.smallDepth : [])
        """, to: folder.path.appending(family))
      let made = try folder.path.appending(family).appending("made.truth").appending("truth.json")
        .json()
      #expect(Set(truth.keys) == Set(made.keys), "\(family)")
      // The walls depend on the seed alone.
      for key in ["low", "high"] {
        let (kept, now) = (try truth.object("room")[key], try made.object("room")[key])
        #expect(kept as? [Double] == now as? [Double] && kept != nil, "\(family): \(key)")
      }
    }
  }

  @Test("A drawing has the connections that settings ask for, and no others")
  func drawnWithSettings() throws {
    let plain = try Program.run(["graph"])
    let same = try Program.run("graph --set color.quality=90 --set color.format=jpeg")
    #expect(plain.status == 0 && same.output == plain.output)
    func aligned(_ text: String) -> Substring? {
      text.lines.first { $0.hasPrefix("aligned ") }
    }
    #expect(aligned(plain.output)?.contains("color") == false)
    let picked = try Program.run("graph --set color.count=60")
    #expect(
      aligned(picked.output)?.contains("needs depth-frames, color") == true, "\(picked.output)")
    #expect(try Program.run("graph --set color.pick").status == 64)
    #expect(try Program.run("graph --set color.pik=sharpest").status == 64)
  }

  @Test(
    "Every pipeline that comes with the program can be drawn",
    arguments: [
      ("default", "thumbnail"), ("preview", "preview"), ("point-cloud", "export-ply"),
      ("benchmark", "align-depth"),
    ])
  func pipelines(_ name: String, holds kind: String) throws {
    for format in ["text", "dot", "mermaid"] {
      let result = try Program.run("graph \(name) --format \(format)").succeeds()
      #expect(result.output.contains(kind))
    }
  }
}
