@testable import Engine
import StageSupport
@testable import Stages
import Testing

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
