@testable import Captures
@testable import Core
import Testing

@Suite("MultiScan: the second camera of the dual mode")
struct MultiScanSecondCameraTests {
  private func folder(_ generation: String) throws -> MultiScanFolder {
    try MultiScanFolder(
      copyOf: MadeCapture(family: "multiscan", generation: generation).folder())
  }

  @Test("Its pictures have the frames of the first camera's at their times, and its own intrinsics")
  func paired() throws {
    let folder = try folder("ios-dual")
    let name = try #require(folder.names(ending: ".json").first)
    var text = try folder.text(of: name)
    let second = try #require(text.firstRange(of: "color_back_2"))
    let matrix = try #require(text[second.upperBound...].firstRange(of: "intrinsics"))
    let start = try #require(text[matrix.upperBound...].firstIndex(of: "["))
    let end = try #require(text[matrix.upperBound...].firstIndex(of: "]"))
    text.replaceSubrange(start...end, with: "[41,0,0,0,42,0,30,20,1]")
    try folder.write(text, to: name)
    let capture = try folder.open()
    let stream = try #require(capture.secondColor.value)
    #expect(stream.description.file.hasSuffix("-secondary.mp4"))
    #expect(stream.description.frames == capture.color.value?.description.frames)
    // Picture k is frame k.
    #expect(stream.frameOfPicture == nil)
    #expect(stream.description.pairing?.isDoubtful == false)
    #expect(capture.secondIntrinsics.map(\.frame) == Array(capture.frames.indices))
    #expect(
      Set(capture.secondIntrinsics.map(\.camera)) == [Intrinsics(fx: 41, fy: 42, cx: 30, cy: 20)])
    #expect(capture.intrinsics.value?.first?.fx != 41)
    #expect(capture.files[.secondColor]?.contains { $0.text.hasSuffix("-secondary.mp4") } == true)
    #expect(CaptureSummary(capture, readerVersion: 1).parts[.secondColor] == .present)
  }

  @Test("A second video with fewer pictures at even times proves nothing, and it is said")
  func shorter() throws {
    let folder = try folder("ios-dual")
    let short = try MultiScanFolder(
      copyOf: MadeCapture(family: "multiscan", generation: "ios-dual", frames: 8).folder())
    let name = try #require(folder.names(ending: "-secondary.mp4").first)
    try folder.write(
      name, try short.bytes(of: try #require(short.names(ending: "-secondary.mp4").first)))
    let stream = try #require(try folder.open().secondColor.value)
    #expect(stream.description.pairing?.isDoubtful == true)
    #expect(stream.frameOfPicture == nil)
    #expect(stream.description.frames == 8)
  }

  @Test(
    "Modes with one camera have none, and a second video that cannot be read is an error of its own"
  )
  func otherwise() throws {
    let single = try folder("ios-single").open()
    #expect(CaptureSummary(single, readerVersion: 1).parts[.secondColor] == nil)
    #expect(single.files[.secondColor] == nil)
    #expect(single.color.value?.description.pairing?.partners == "motion samples")
    let dual = try folder("ios-dual")
    let name = try #require(dual.names(ending: "-secondary.mp4").first)
    try dual.write("nothing", to: name)
    let capture = try dual.open()
    #expect(capture.secondColor.error?.file.text.hasSuffix(name) == true)
    #expect(capture.color.error == nil)
    #expect(capture.errors.isEmpty)
  }
}
