import Core

/// How a capture was made, with everything needed to make it again.
struct TruthDocument {
  let family: String
  let generation: String
  let id: String
  let options: SynthesisOptions
  let faults: [SyntheticFault]
  let rate: Double
  let frames: Int
  let color: PinholeCamera
  let depth: PinholeCamera?
  let colorFromDepth: RigidTransform?

  /// Inner corners of the scene: every wall is a plane of this box.
  private var room: JSONTree {
    let corners = Room.corners(seed: options.seed)
    return [
      "low": JSONTree(corners.low.array), "high": JSONTree(corners.high.array),
      "isEmpty": .bool(options.roomIsEmpty),
    ]
  }

  var json: JSONTree {
    [
      "schema": 1, "family": .text(family), "generation": .text(generation), "id": .text(id),
      "seed": .text("\(options.seed)"), "frames": JSONTree(frames), "rateHz": .number(rate),
      "noise": .number(options.noise), "exposureSeconds": .number(options.exposureSeconds),
      "quality": JSONTree(options.quality), "showsFrameCode": .bool(options.showsFrameCode),
      "faults": .array(
        faults.map { ["name": .text($0.name), "summary": .text($0.summary)] }),
      "axes":
        "world: y up, meters; cameras: x right, y down, z forward; pixel centers at integers",
      "colorCamera": color.json,
      "depthCamera": depth?.json ?? nil,
      "colorFromDepth": colorFromDepth.map { JSONTree($0.rowMajor) } ?? nil,
      "room": room,
      "files": [
        "expected.json": "what a reader must find",
        "color_poses.csv": "pose of the color camera at the time of each picture",
        "depth_poses.csv": "pose of the color camera at the time of each depth frame",
        "depth": "exact depth in the depth camera, millimeters, without noise and quantization",
        "aligned":
          "exact depth along the color camera's axis at the time of the depth frame, millimeters",
      ],
    ]
  }
}
