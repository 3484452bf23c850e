@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
import StageSupport
@testable import Stages
import Testing

@Suite("EXIF of exported pictures")
struct FrameEXIFTests {
  @Test("Tags come before the pixels, which stay; the tags say the focal length of 35 mm film")
  func tags() throws {
    var grid = GridCapture(frames: 2)
    grid.cameras[1] = nil
    let plain = try grid.export(ExportTUM.self, ["pictures": "jpeg", "quality": "80"])
    let tagged = try grid.export(
      ExportTUM.self, ["pictures": "jpeg", "quality": "80", "exif": "camera"])
    #expect(plain.files("rgb") == tagged.files("rgb") && plain.files("rgb").count == 2)
    for (frame, name) in plain.files("rgb").sorted().enumerated() {
      let (before, after) = (try plain.bytes("rgb/\(name)"), try tagged.bytes("rgb/\(name)"))
      let header = 2 + 2 + 16
      #expect(Array(after.prefix(header)) == Array(before.prefix(header)))
      #expect(after[header...].starts(with: [0xff, 0xe1]))
      let length = Int(after[header + 2]) << 8 + Int(after[header + 3])
      #expect(Array(after[(header + 2 + length)...]) == Array(before[header...]))
      // 11 pixels of a diagonal of 20 are 24 of 43 mm; type 3, one value, little-endian.
      let focal: [UInt8] = [0x05, 0xa4, 3, 0, 1, 0, 0, 0, 24, 0, 0, 0]
      #expect(
        after.indices.contains { after[$0...].starts(with: focal) } == (frame == 0), "\(frame)")
    }
    #expect(try tagged.text("README.txt").contains("EXIF"))
    #expect(plain.output.artifact.record.parameters["exif"] == nil)
  }

  @Test(
    "The time of day is the same on every clock that the export has", arguments: ["device", "unix"])
  func clocks(clock: String) throws {
    var capture = GridCapture(frames: 1).capture
    capture.recordedAt = "2012-08-07T15:11:00Z"
    capture.clock = CaptureClock(.recordingStart, unit: "s")
    capture.frames = [CaptureFrame(timestamp: Timestamp(nanoseconds: 2_000_000_000))]
    let output = try GridCapture(frames: 1).export(
      ExportTUM.self,
      ["pictures": "jpeg", "quality": "80", "exif": "camera", "clock": clock], of: capture)
    let file = try output.bytes("rgb/" + #require(output.files("rgb").first))
    let time = Array("2012:08:07 15:11:02\0".utf8)
    #expect(file.indices.contains { file[$0...].starts(with: time) })
  }

  @Test("Files that are no JPEG stay those of color/")
  func others() throws {
    let grid = GridCapture(frames: 1)
    let plain = try grid.export(ExportTUM.self)
    let tagged = try grid.export(ExportTUM.self, ["exif": "place"])
    let name = try #require(plain.files("rgb").first)
    #expect(try plain.bytes("rgb/\(name)") == tagged.bytes("rgb/\(name)"))
  }
}
