@testable import Captures
import Core
import Media
import SystemPackage
import Testing

/// A folder with a `capture.yaml` in the making, as loggers of labs write them.
final class OpenFolderScratch: ScratchCapture {
  convenience init(_ description: String) throws {
    try self.init(named: "walk")
    try describe(description)
  }

  func describe(_ text: String) throws {
    try write("# of our logger\nscanmill-capture: 1\n" + text + "\n", to: "capture.yaml")
  }

  // MARK: Files

  func writePicture(_ name: String, width: Int = 16, height: Int = 12) throws {
    var jpeg = try JPEGWriter(quality: 90)
    var bytes: [UInt8] = []
    try jpeg.encode(
      rgb: [UInt8](repeating: 90, count: width * height * 3), width: width, height: height,
      into: &bytes)
    try write(bytes, to: name)
  }

  func writeDepth(_ name: String, _ values: [UInt16]) throws {
    var png = PNGWriter(compression: .fast)
    try write(
      try png.encode(DepthImage(width: 4, height: values.count / 4, millimeters: values)), to: name)
  }

  /// Raw float32, little-endian.
  func writeFloats(_ name: String, _ meters: [Float]) throws {
    try write(Self.bytes(meters.map(\.bitPattern)), to: name)
  }

  static func bytes<Number: FixedWidthInteger>(_ numbers: [Number]) -> [UInt8] {
    numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian, Array.init) }
  }

  // MARK: Layouts of loggers

  /// A camera that is turned by 90° about its axis and moves along x, in rows.
  static func matrix(_ frame: Int) -> [[Double]] {
    [[0, 1, 0, Double(frame) / 10], [-1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
  }

  /// The same in OpenCV's camera axes.
  static func pose(_ frame: Int) -> Pose {
    Pose(
      position: [Double(frame) / 10, 2, 3],
      orientation: Quaternion(rotation: [0, -1, 0, -1, 0, 0, 0, 0, -1]))
  }

  /// A frames folder: JSON lines with names, times, poses and intrinsics, and raw float depth. Names
  /// are not padded with zeros.
  static func frames() throws -> OpenFolderScratch {
    let scratch = try OpenFolderScratch(
      """
      color: {table: frames.jsonl, file: image, time: {column: t, unit: s}}
      depth:
        images: "depth/frame_*.bin"
        raw: {type: float32, width: 4, height: 3}
      poses:
        table: frames.jsonl
        matrix: camera.pose
        order: row
        direction: worldFromCamera
        axes: arkit
      intrinsics:
        {table: frames.jsonl, fx: camera.K.0, fy: camera.K.1, cx: camera.K.2, cy: camera.K.3, size: [16, 12]}
      """)
    var lines = ""
    for (row, name) in [8, 9, 10].enumerated() {
      lines +=
        #"{"image": "rgb/frame_\#(name).jpg", "t": 68414.\#(row)00000001, "#
        + #""camera": {"K": [12, 12, 7.5, 5.5], "pose": \#(matrix(row))}}"# + "\n"
      try scratch.writePicture("rgb/frame_\(name).jpg")
      try scratch.writeFloats(
        "depth/frame_\(name).bin",
        [Float(row + 1), 0.0015, .nan, 0] + [Float](repeating: 2, count: 8))
    }
    try scratch.write(lines, to: "frames.jsonl")
    return scratch
  }

  /// `transforms.json` with pictures and depth.
  static func transforms() throws -> OpenFolderScratch {
    let scratch = try OpenFolderScratch("layout: transforms\ndepth: {scale: 0.0005}")
    var frames: [String] = []
    for frame in 0..<3 {
      frames.append(
        #"{"file_path": "./images/\#(frame).jpg", "depth_file_path": "depths/\#(frame).png", "#
          + #""transform_matrix": \#(matrix(frame))}"#)
      try scratch.writePicture("images/\(frame).jpg")
      try scratch.writeDepth("depths/\(frame).png", [UInt16](repeating: 2001, count: 12))
    }
    try scratch.write(
      #"{"w": 16, "h": 12, "fl_x": 12, "fl_y": 12, "cx": 8, "cy": 6, "k1": 0.1, "k2": 0, "p1": 0, "p2": 0, "#
        + #""frames": [\#(frames.joined(separator: ",\n"))]}"#, to: "transforms.json")
    return scratch
  }
}

extension Capture {
  /// Depth of a frame in millimeters; `nil` without picture.
  func depth(_ frame: Int) throws -> [UInt16]? { try depth.value?.pictures()[frame] }
}
