@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import Testing

@Suite("Sequences of the KITTI odometry benchmark")
struct KITTITests {
  @Test(
    "Poses lead to the first exported camera, times begin with it, pictures are numbered without holes"
  )
  func snapshot() throws {
    var capture = GridCapture(frames: 5)
    capture.poses[0] = nil
    capture.poses[3] = nil
    capture.cameras[2]?.fx = 11
    let export = try capture.export(ExportKITTI.self)
    #expect(try export.frames == [1, 2, 4])
    #expect(
      export.output.names.sorted() == [
        "README.txt", "export.json", "frames.csv", "poses/00.txt", "sequences/00/calib.txt",
        "sequences/00/image_2/000000.png", "sequences/00/image_2/000001.png",
        "sequences/00/image_2/000002.png", "sequences/00/times.txt",
      ])
    // Frame 1 looks along (1, 1, 1) turned by 120°: old x is its z, old y its x, old z its y.
    #expect(
      try export.text("poses/00.txt") == """
        1 0 0 0 0 1 0 0 0 0 1 0
        0 1 0 0 0 0 1 0 1 0 0 1
        0 1 0 0 0 0 1 0 1 0 0 3

        """)
    #expect(
      try export.text("sequences/00/times.txt") == "0.000000000\n0.000000100\n0.000000300\n")
    let row = "10 0 7.25 0 0 12 5.5 0 0 0 1 0"
    #expect(
      try export.text("sequences/00/calib.txt")
        == (0..<4).map { "P\($0): \(row)\n" }.joined() + "Tr: 1 0 0 0 0 1 0 0 0 0 1 0\n")
    #expect(try export.account.intrinsicsDeviation == 1)
    #expect(try export.account.leftOut == ["no-pose": 2])
  }
}
