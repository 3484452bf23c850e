@testable import Media
import Foundation
@testable import Core
@testable import Processing
import SystemPackage
import TestSupport
import Testing

/// Whether movies can be made and their colors converted; says so once if not.
private let hasTools: Bool = {
  if let problem = ZimgLibrary.problem {
    print("note: \(problem): color.hdr is not tested")
    return false
  }
  return MovieScene.hasFFmpeg
}()

@Suite("color.hdr", .runsPrograms, .enabled(if: hasTools))
struct HDRTreatmentTests {
  private static func scene(
    _ family: String = "vi-slam", _ transfer: String = "arib-std-b67", frames: Int = 4
  ) throws -> MovieScene {
    let scene = try MovieScene(family, frames: frames)
    try scene.encode(HDRVideoTests.coder(family) + HDRVideoTests.tags(transfer))
    return scene
  }

  private static func record(_ output: FilePath, _ stage: String = "color") throws -> [String: Any]
  {
    try output.appending("\(stage)/artifact.json").json()
  }

  private static func light(_ output: FilePath) throws -> [String: Any] {
    let record = try record(output)
    return try #require(record["recorded", "light"] as? [String: Any])
  }

  private static func hasWarning(_ output: FilePath) throws -> Bool {
    MovieScene.warnings(try output.appending("capture.json").json())
      .contains { $0.code == "hdr-video" }
  }

  private static func libraries(_ output: FilePath) throws -> Set<String> {
    Set((try record(output)["libraries"] as? [String: String] ?? [:]).keys)
  }

  @Test(
    "sdr of every family: brighter contrast, the peak of the movie in the record, no warning",
    arguments: Rounds.every(2, of: MovieScene.families))
  func families(family: String) throws {
    let transfer = family == "multiscan" ? "smpte2084" : "arib-std-b67"
    let scene = try Self.scene(family, transfer, frames: 3)
    let plain = try scene.run("plain", "--only color")
    let output = try scene.run("out", "--only color --set color.hdr=sdr")
    #expect(try Self.hasWarning(plain) && !Self.hasWarning(output))
    let light = try Self.light(output)
    #expect(light["hdr"] as? String == "sdr" && light["transfer"] as? String == transfer)
    #expect(light["primaries"] as? String == "bt2020" && light["primariesAssumed"] == nil)
    #expect(light["peak"] as? Double == 1000)
    #expect(light["peakFrom"] as? String == (family == "multiscan" ? "assumed" : "transfer"))
    #expect(try Self.libraries(output).contains("zimg"))
    let names = try FileSystem.names(in: output.appending("color")).filter {
      $0.hasSuffix(".png")
    }
    #expect(try MovieScene.pictures(plain).count == names.count)
    for name in names {
      let pictures = try [plain, output].map {
        try PNGReader.color(at: $0.appending("color").appending(name))
      }
      #expect(pictures[0].width == pictures[1].width && pictures[0].height == pictures[1].height)
      #expect(pictures[0] != pictures[1])
    }
  }

  /// The camera of a frame as `tables/intrinsics.csv` has it.
  private static func camera(_ output: FilePath, _ row: Int) throws -> PinholeCamera {
    let table = try Table(output.appending("tables/intrinsics.csv"))
    let numbers = table.rows[row].compactMap(Double.init)
    try #require(numbers.count == 7)
    return PinholeCamera(
      width: Int(numbers[1]), height: Int(numbers[2]), fx: numbers[3], fy: numbers[4],
      cx: numbers[5], cy: numbers[6])
  }

  /// What a picture becomes that is undistorted and made smaller after its conversion.
  private static func expectShaped(
    _ found: FilePath, from plain: FilePath, isWide: Bool, _ shape: PictureShape, _ lens: LensCamera
  ) throws {
    var shaper = PictureShaper(shape)
    if isWide {
      let (plain, found) = try (PNGReader.wideColor(at: plain), PNGReader.wideColor(at: found))
      let wanted = try shaper.shaped(
        plain.rgb, width: plain.width, height: plain.height, camera: lens)
      #expect(found.width == wanted.width && found.rgb == wanted.rgb)
    } else {
      let (plain, found) = try (PNGReader.color(at: plain), PNGReader.color(at: found))
      let wanted = try shaper.shaped(
        plain.rgb, width: plain.width, height: plain.height, camera: lens)
      #expect(found.width == wanted.width && found.rgb == wanted.rgb)
    }
  }

  @Test(
    "The converted picture is undistorted, then made smaller; cameras, depth, exports and records follow",
    arguments: Rounds.some(of: ["sdr", "linear16", "coded16"], 1))
  func shaped(hdr: String) throws {
    let isWide = hdr != "sdr"
    let scene = try Self.scene("arkit-scanner", "smpte2084", frames: 3)
    let lab = scene.folder.path.appending("lab.json")
    let lens = try LabCalibration.write(lab, of: scene.capture)
    // Few readers open 16 bits.
    let exports = ["nerfstudio", isWide ? "colmap" : "tum"]
    let words =
      [
        "--set", "color.hdr=\(hdr)", "--set", "aligned.calibration=\(lab)", "--set",
        "export-nerfstudio.points=0", "--export", exports.joined(separator: ","), "--until",
        "tables",
      ]
      + (isWide ? ["--set", "export-colmap.points=0"] : [])
    let straight = [
      "--set", "color.undistort=true", "--set", "color.alpha=0.5", "--set",
      "color.calibration=\(lab)",
    ]
    let plain = try scene.run("plain", "\(words)")
    let whole = try scene.run("whole", "\(words) \(straight)")
    let half = try scene.run("half", "\(words) \(straight) --set color.size=50%")
    let names = try MovieScene.pictures(plain).keys.sorted()
      .map { String(repeating: "0", count: 5) + "\($0).png" }
    #expect(names.count == 3)
    for (row, name) in names.enumerated() {
      for (output, sizing) in [(whole, nil), (half, .percent(50))] as [(FilePath, PictureSizing?)] {
        try Self.expectShaped(
          output.appending("color").appending(name),
          from: plain.appending("color").appending(name), isWide: isWide,
          PictureShape(undistorts: true, alpha: 0.5, sizing: sizing), lens)
      }
      let (full, reduced) = try (Self.camera(whole, row), Self.camera(half, row))
      #expect(reduced.width == 80 && reduced.height == 60)
      #expect(abs(reduced.fx - full.fx / 2) < 1e-9 && abs(reduced.fy - full.fy / 2) < 1e-9)
      #expect(abs(reduced.cx - ((full.cx + 0.5) / 2 - 0.5)) < 1e-9)
      #expect(try Self.camera(plain, row).fx != full.fx)
    }
    for output in [whole, half] {
      // What the values mean is told as without a shape, and the shape as without a meaning.
      #expect(try Self.light(output) as NSDictionary == Self.light(plain) as NSDictionary)
      let recorded = try Self.record(output).object("recorded")
      let shape = try recorded.object("pictureShape")
      #expect(shape["undistorted"] as? Bool == true && shape["alpha"] as? Double == 0.5)
      #expect(shape["size"] as? String == (output == half ? "50%" : nil))
      #expect(try !Self.hasWarning(output))
      #expect(try Self.libraries(output).contains("zimg"))
      let camera = try Self.camera(output, 0)
      let size = [camera.width, camera.height]
      let aligned = try StillImage.header(output.appending("aligned/000000.png"))
      #expect([aligned.storedWidth, aligned.storedHeight] == size)
      let transforms = try output.appending("export-nerfstudio/transforms.json").json()
      #expect((transforms["w"] as? Int).map { [$0, transforms["h"] as? Int ?? 0] } == size)
      let frames = try transforms.objects("frames")
      let focal = try #require((transforms["fl_x"] ?? frames.first?["fl_x"]) as? Double)
      #expect(abs(focal - camera.fx) < 1e-6)
      // Exports have the pictures themselves.
      let made = Set(try MovieScene.pictures(output).values)
      for export in exports {
        let folder = output.appending("export-\(export)")
        let pictures = try folder.namesBelow()
          .filter { $0.hasSuffix(".png") && !$0.contains("depth") }
          .map { try folder.appending($0).data() }
        #expect(Set(pictures) == made, "\(export)")
      }
      guard isWide else { continue }
      for bytes in made {
        #expect(Array(bytes[37..<41]) == Array("cICP".utf8))
        #expect(Array(bytes[41..<45]) == [9, hdr == "linear16" ? 8 : 16, 0, 1])
      }
    }
    if hdr == "sdr" { #expect(try Self.light(whole)["peak"] as? Double == 1000) }
    // Measured while they are in memory they have the figures that they have when they are decoded again.
    let quality = ["--pipeline", "quality", "--set", "aligned.calibration=\(lab)"]
    let settings = ["--set", "color.hdr=\(hdr)", "--set", "color.size=50%"] + straight
    var tables: [[String]] = []
    for name in ["decoded-again", "measured"] {
      if name == "decoded-again" { _ = try scene.run(name, "\(settings) --until color") }
      let output = try scene.run(name, "\(quality) \(settings)")
      let measures = output.appending("color/measures.csv")
      #expect(FileSystem.exists(measures) == (name == "measured"))
      let table = try Table(output.appending("quality/quality.csv"))
      tables.append(table["sharpness"] + table["bright_share"] + table["blur_sigma_px"])
    }
    #expect(tables[0] == tables[1] && !tables[0].contains(""))
  }

  @Test("A video that is exported has converted pictures, not the recorded ones")
  func exportedVideo() throws {
    let scene = try Self.scene(frames: 4)
    for (setting, file) in [("as-is", "data.mp4"), ("sdr", "data.mkv")] {
      let output = try scene.run(setting, "--export spectacular --set color.hdr=\(setting)")
      let names = try FileSystem.names(in: output.appending("export-spectacular"))
      #expect(names.contains(file), "\(names)")
    }
  }

  @Test(
    "16-bit pictures state their colors, are measured, drawn and shared with exports",
    arguments: ["linear16", "coded16"])
  func wide(hdr: String) throws {
    let scene = try Self.scene("arkit-scanner", frames: 3)
    let setting = ["--set", "color.hdr=\(hdr)"]
    let output = try scene.run("out", "--pipeline quality \(setting)")
    #expect(try !Self.hasWarning(output))
    let light = try Self.light(output)
    #expect(light["hdr"] as? String == hdr && (light["white"] != nil) == (hdr == "linear16"))
    let names = try FileSystem.names(in: output.appending("color")).filter { $0.hasSuffix(".png") }
    #expect(names.count == 3)
    for name in names {
      let file = output.appending("color").appending(name)
      let picture = try PNGReader.wideColor(at: file)
      #expect(picture.width == 160 && picture.height == 120)
      let bytes = try file.data()
      // After the 8 bytes of the signature and the 25 of IHDR.
      #expect(Array(bytes[37..<41]) == Array("cICP".utf8))
      #expect(Array(bytes[41..<45]) == [9, hdr == "linear16" ? 8 : 18, 0, 1])
    }
    let table = try Table(output.appending("quality/quality.csv"))
    #expect(table["sharpness"].allSatisfy { !$0.isEmpty })
    _ = try scene.run("out", "--pipeline preview --set pictures.hdr=\(hdr)")
    let exported = try scene.run("out", "--export colmap --set export-colmap.points=0 \(setting)")
    let shared = try exported.appending("export-colmap").namesBelow().filter {
      $0.hasSuffix(".png")
    }
    #expect(!shared.isEmpty)
    // What needs 8 bits says so.
    let refused = try Program.run(
      [
        "run", scene.input.string, "--output", output.removingLastComponent().string, "--executor",
        "local", "--export", "sens,tum,open3d",
      ] + setting)
    #expect(refused.status == 1)
    let said = refused.errors + refused.output
    #expect(said.contains("have 16 bits (color.hdr=\(hdr))"), "\(said)")
    #expect(said.contains("set color.hdr=sdr"))
    for export in ["sens", "tum", "open3d"] {
      #expect(!FileSystem.exists(output.appending("export-\(export)")))
    }
  }

  @Test("sdr changes nothing of an SDR movie, and the record says why")
  func ordinary() throws {
    let scene = try MovieScene("vi-slam", frames: 3)
    let plain = try scene.run("plain", "--only color")
    let output = try scene.run("out", "--only color --set color.hdr=sdr")
    #expect(try MovieScene.pictures(plain) == MovieScene.pictures(output))
    #expect(try Self.light(output)["unconverted"] as? String != nil)
    #expect(try Self.light(output)["transfer"] == nil)
    #expect(try !Self.libraries(output).contains("zimg"))
  }

  @Test("Wide primaries of an SDR movie are told, and converted by sdr")
  func displayP3() throws {
    let scene = try MovieScene("vi-slam", frames: 3)
    try scene.encode(
      HDRVideoTests.coder("vi-slam") + [
        "-color_trc", "bt709", "-color_primaries", "smpte432", "-colorspace", "bt709",
        "-color_range", "tv",
      ])
    let plain = try scene.run("plain", "--only color")
    #expect(try Self.hasWarning(plain))
    #expect(try HDRVideoTests.text(scene).contains("wider colors than an ordinary screen's"))
    let output = try scene.run("out", "--only color --set color.hdr=sdr")
    #expect(try !Self.hasWarning(output))
    #expect(try Self.light(output)["primaries"] as? String == "smpte432")
    #expect(try MovieScene.pictures(plain) != MovieScene.pictures(output))
  }

  @Test(
    "16 bits of movies that state no transfer are refused; sdr takes stills as they are"
  )
  func withoutVideo() throws {
    let stills = try Scene(synthesizing: "record3d --frames 3 --width 160 --height 120 --seed 11")
    try stills.run("--only color --set color.hdr=sdr").succeeds()
    #expect(
      (try Self.light(stills.output.appending("a"))["unconverted"] as? String ?? "")
        .contains("stills"))
    let untagged = try MovieScene("vi-slam", frames: 3)
    try untagged.encode(HDRVideoTests.coder("vi-slam"))
    let other = try Program.run(
      """
      run \(untagged.input) --output \(untagged.folder.path.appending("out")) --only color \
      --set color.hdr=linear16
      """)
    #expect(other.status == 1)
    #expect((other.errors + other.output).contains("needs the transfer function"))
  }
}
