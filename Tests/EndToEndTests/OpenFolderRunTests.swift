import Core
import Foundation
import Media
import SystemPackage
import TestSupport
import Testing

@Suite("Open folder: the program on a folder with a capture.yaml", .runsPrograms)
struct OpenFolderRunTests {
  @Test("The default pipeline and an export make of it what they make of any capture")
  func run() throws {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending("in/walk")
    try write(capture)
    let output = folder.path.appending("out")
    let result = try Program.run("run \(capture) --output \(output) --export nerfstudio")
    #expect(result.status == 0, "\(result.output)")
    let made = output.appending("walk")
    let depth = try PNGReader.depth(at: made.appending("depth/000002.png"))
    #expect(depth.millimeters.allSatisfy { $0 == 1500 })
    let poses = try made.appending("tables/poses.csv").text()
    #expect(poses.lines.count == 4)
    let file = made.appending("export-nerfstudio/transforms.json")
    let json = try file.json()
    #expect((json["frames"] as? [Any])?.count == 3)
    #expect(json["fl_x"] as? Double == 60)
  }

  private func write(_ folder: FilePath) throws {
    func write(_ bytes: [UInt8], _ name: String) throws {
      let path = folder.appending(name)
      try FileManager.default.createDirectory(
        atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
      try path.write(bytes)
    }
    let description = """
      scanmill-capture: 1
      color: {table: poses.csv, file: picture, time: {column: t, unit: ms}}
      depth: {images: "depth/*.f32", raw: {type: float32, width: 16, height: 12}}
      poses:
        table: poses.csv
        position: [x, y, z]
        quaternion: [qw, qx, qy, qz]
        quaternionOrder: wxyz
        direction: worldFromCamera
        axes: opencv
      intrinsics: {fx: 60, fy: 60, cx: 31.5, cy: 23.5, size: [64, 48]}
      """
    try write(Array(description.utf8), "capture.yaml")
    var rows = "picture,t,x,y,z,qw,qx,qy,qz\n"
    for frame in 0..<3 {
      rows += "rgb/\(frame).jpg,\(1000 + frame * 33),0.\(frame),0,0,1,0,0,0\n"
      var jpeg = try JPEGWriter(quality: 90)
      var bytes: [UInt8] = []
      let rgb = (0..<64 * 48 * 3).map { UInt8(truncatingIfNeeded: $0 * (frame + 3)) }
      try jpeg.encode(rgb: rgb, width: 64, height: 48, into: &bytes)
      try write(bytes, "rgb/\(frame).jpg")
      let meters = [Float](repeating: 0.5 * Float(frame + 1), count: 16 * 12)
      try write(
        meters.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) },
        "depth/\(frame).f32")
    }
    try write(Array(rows.utf8), "poses.csv")
  }
}
