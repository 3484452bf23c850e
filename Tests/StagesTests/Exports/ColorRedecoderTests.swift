@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Pictures made from the video instead of from color/")
struct ColorRedecoderTests {
  /// A synthetic capture and what `decode-color` makes of it, with the record that the engine writes.
  private struct Scene {
    let folder: TemporaryFolder
    let bench: StageBench
    var color: InputArtifact

    init(_ family: String, _ settings: [String: String] = [:]) throws {
      folder = try TemporaryFolder()
      var options = SynthesisOptions(output: folder.path)
      (options.seed, options.frames, options.width, options.height) = (7, 6, 160, 120)
      let made = try SyntheticFamilies.write(family, options)
      let registry = CaptureRegistry([ScanNetReader.self, ARKitScannerReader.self])
      let found = try #require(CaptureFinder(registry).find(made.folder).captures.first)
      bench = try StageBench(try registry.open(found))
      color = try bench.run(DecodeColor.self, settings).artifact
      color.record.version = DecodeColor.version
      color.record.libraries = LibraryVersions.ofVideo
      color.record.parameters = settings.mapValues { .string($0) }
    }

    /// The digests of what `kind` makes, without the files of `color/` where they must not be read.
    func digest(_ kind: any Stage.Type, cores: Int, reads color: InputArtifact) throws -> Digest {
      try bench.run(
        kind, as: "\(kind.name)-\(cores)-\(color.record.uses)", inputs: ["color": color],
        cores: cores
      ).artifact.record.outputs.digest
    }

    /// The artifact as if another stage had made it.
    var ofAnotherStage: InputArtifact {
      var other = color
      other.record.uses = "command"
      return other
    }

    func removePictures() throws {
      for output in color.record.outputs {
        try FileSystem.remove(color.folder.appending(output.path))
      }
    }
  }

  @Test(
    "They are the same to the byte, for any number of cores and any conversion",
    arguments: [
      ("arkit-scanner", [:]), ("scannet", [:]),
      ("arkit-scanner", ["conversion": "accurate", "matrix": "bt2020", "range": "full"]),
    ] as [(String, [String: String])])
  func same(family: String, settings: [String: String]) throws {
    let scene = try Scene(family, settings)
    for kind in [JPEGPictures.self, GrayPictures.self] as [any Stage.Type] {
      let fromFiles = try scene.digest(kind, cores: 2, reads: scene.ofAnotherStage)
      #expect(try scene.digest(kind, cores: 1, reads: scene.color) == fromFiles)
      #expect(try scene.digest(kind, cores: 8, reads: scene.color) == fromFiles)
    }
    // It was the video: there is nothing else now.
    try scene.removePictures()
    _ = try scene.digest(JPEGPictures.self, cores: 3, reads: scene.color)
    #expect(throws: ImageError.self) {
      try scene.digest(JPEGPictures.self, cores: 3, reads: scene.ofAnotherStage)
    }
  }

  @Test("Where the pictures may differ, the files are read")
  func otherwise() throws {
    let scene = try Scene("arkit-scanner")
    try scene.removePictures()
    var damaged = scene.color
    damaged.record.warnings = [CaptureWarning(.corruptRecord, "color", "one is patched")]
    var otherVersion = scene.color
    otherVersion.record.version -= 1
    var otherLibrary = scene.color
    otherLibrary.record.libraries["libavcodec"] = "1.2.3"
    var few = scene.color
    few.record.outputs = Array(few.record.outputs.prefix(2))
    for (number, color) in [damaged, otherVersion, otherLibrary, few].enumerated() {
      #expect(throws: ImageError.self, "\(number)") {
        try scene.digest(GrayPictures.self, cores: 10 + number, reads: color)
      }
    }
  }

  @Test("Frames that color/ does not hold are not made")
  func holes() throws {
    var scene = try Scene("arkit-scanner")
    scene.color.record.outputs.remove(at: 2)
    let output = try scene.bench.run(JPEGPictures.self, inputs: ["color": scene.color])
    #expect(
      output.names == ["000000.jpg", "000001.jpg", "000003.jpg", "000004.jpg", "000005.jpg"])
  }
}
