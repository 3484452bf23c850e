@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
import StageSupport
@testable import Stages
import Testing

@Suite("EXIF of exported pictures")
struct FrameEXIFTests {
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
