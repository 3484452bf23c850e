import FoundationEssentials
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages
@testable import Synthetic

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

@Suite("One camera for all frames")
struct CommonCameraTests {
  /// cx of frame k is 7.25 + `shift` · k; three frames.
  private static func capture(shift: Double) -> GridCapture {
    var capture = GridCapture(frames: 3)
    for frame in 0..<3 { capture.cameras[frame]?.cx = 7.25 + shift * Double(frame) }
    return capture
  }

  private static func run(
    _ kind: any Stage.Type, _ settings: [String: String], shift: Double
  ) throws -> (Export, [CaptureWarning]) {
    let grid = capture(shift: shift)
    let bench = try StageBench(grid.capture)
    var inputs = [
      "color": try bench.color(grid.colors), "aligned": try bench.depthPictures(grid.depths),
    ]
    // Formats that hold JPEG get it as the pipeline gives it.
    inputs["jpeg"] = try bench.run(JPEGPictures.self, inputs: inputs).artifact
    let output = try bench.run(kind, settings, inputs: inputs)
    return (Export(output: output), output.warnings)
  }

  @Test(
    "Up to two pixels are usual; more is told, with the spread and the choice",
    arguments: [(0.5, [:], 0), (2, [:], 0), (4, [:], 2), (2, ["camera": "first"], 1)]
      as [(Double, [String: String], Int)])
  func warning(shift: Double, settings: [String: String], count: Int) throws {
    for kind in [ExportOpen3D.self, ExportScanNet.self, ExportSens.self] as [any Stage.Type] {
      let (export, warnings) = try Self.run(kind, settings, shift: shift)
      #expect(warnings.map(\.code) == (count == 0 ? [] : [.intrinsicsVary]), "\(kind.name)")
      guard let warning = warnings.first else { continue }
      #expect(warning.count == count)
      let spread = settings.isEmpty ? shift : 2 * shift
      #expect(
        warning.message.contains("the principal point is up to \(Int(spread)) pixels away"),
        "\(warning.message)")
      #expect(try export.account.intrinsicsDeviation == spread)
    }
  }

  @Test(
    "The camera is the median or that of the first frame",
    arguments: [("median", "11.25"), ("first", "7.25")])
  func choice(name: String, cx: String) throws {
    let (export, _) = try Self.run(ExportOpen3D.self, ["camera": name], shift: 4)
    #expect(try export.text("intrinsic.json").contains(cx))
    let (model, warnings) = try Self.run(ExportColmap.self, ["camera": name], shift: 4)
    let cameras = try model.text("sparse/0/cameras.txt").lines
      .filter { !$0.hasPrefix("#") }
    #expect(cameras.count == 1)
    // Counted from the corner.
    #expect(cameras.first?.contains(name == "median" ? " 11.75 " : " 7.75 ") == true)
    #expect(warnings.map(\.code) == [.intrinsicsVary])
    let (scene, _) = try Self.run(ExportNerfstudio.self, ["camera": name], shift: 4)
    let text = try scene.text("transforms.json")
    #expect(text.components(separatedBy: "fl_x").count == 2, "at the top alone")
  }

  @Test("Formats that store the camera of each frame write it, without a warning")
  func perFrame() throws {
    for (kind, name) in [
      (ExportColmap.self, "sparse/0/cameras.txt"), (ExportNerfstudio.self, "transforms.json"),
    ] as [(any Stage.Type, String)] {
      let (usual, warnings) = try Self.run(kind, [:], shift: 4)
      let (named, _) = try Self.run(kind, ["camera": "per-frame"], shift: 4)
      #expect(warnings.isEmpty)
      #expect(try usual.bytes(name) == named.bytes(name))
      for cx in ["7.75", "11.75", "15.75"] { #expect(try usual.text(name).contains(cx)) }
    }
  }

  @Test("camera goes before intrinsics, which COLMAP had first")
  func both() throws {
    let (export, _) = try Self.run(
      ExportColmap.self, ["intrinsics": "median", "camera": "per-frame"], shift: 4)
    #expect(try export.text("sparse/0/cameras.txt").contains(" 15.75 "))
  }
}

@Suite("Color pictures of 16 bits")
struct WidePictureTests {
  private static let reason = "and pictures of 8 bits are needed here: set color.hdr=sdr"

  @Test(
    "Every format that writes color refuses them, in every form it has, unless its readers open them",
    arguments: ["coded16", "linear16"])
  func formats(hdr: String) throws {
    var every = EveryFormat()
    every.colorRecorded = ["light": .object(["hdr": .string(hdr)])]
    let wide: [any ExportStage.Type] = [ExportColmap.self, ExportNerfstudio.self]
    var refusing: Set<String> = []
    for form in ["same", "png"] {
      every.settings.merge(["pictures": form, "points": "0", "picture": "color"]) { $1 }
      for kind in EveryFormat.kinds {
        guard
          ![ExportGPX.name, ExportGeoJSON.name, ExportKML.name, ExportKalibr.name].contains(
            kind.name)
        else { continue }
        // A format that has no such form has another one, JPEG or PNG, which is as narrow.
        if kind == ExportSens.self, form == "same" { continue }
        if wide.contains(where: { $0 == kind }) {
          #expect(try every.export(kind) != nil, "\(kind.name)")
          continue
        }
        let error = #expect(throws: StageFailure.self, "\(kind.name) \(form)") {
          try every.export(kind)
        }
        #expect(error?.description.contains(Self.reason) == true, "\(kind.name)")
        refusing.insert(kind.name)
      }
    }
    #expect(refusing.count == 10, "\(refusing)")
    // Start points take their colors from pictures.
    every.settings["points"] = "10"
    for kind in wide { #expect(throws: StageFailure.self) { try every.export(kind) } }
  }

  @Test("The inner stages that make JPEG and gray pictures refuse them")
  func innerStages() throws {
    let grid = GridCapture()
    let bench = try StageBench(grid.capture)
    let color = try bench.color(
      grid.colors, recorded: ["light": .object(["hdr": .string("coded16")])])
    for kind in [JPEGPictures.self, GrayPictures.self] as [any Stage.Type] {
      let error = #expect(throws: StageFailure.self) {
        try bench.run(kind, inputs: ["color": color])
      }
      #expect(error?.description.contains(Self.reason) == true, "\(kind.name)")
    }
  }
}
