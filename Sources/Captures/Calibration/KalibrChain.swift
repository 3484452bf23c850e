import Core
import Yams

/// A Kalibr camera chain: `cam0`, `cam1`, … with pinhole intrinsics, `radtan` lenses (four
/// coefficients, or up to eight in OpenCV's order), resolutions, and `T_cn_cnm1`, which maps
/// coordinates of the previous camera to those of this one, meters.
///
/// Cameras are identified by resolution alone; two with the same resolution require the JSON form.
struct KalibrChain {
  struct Camera {
    var name: String
    var pinhole: PinholeCamera
    var lens: LensDistortion
    /// From coordinates of `cam0` to those of this camera.
    var fromFirst: RigidTransform
  }

  private(set) var cameras: [Camera] = []
  /// The device that the chain names, outside of its cameras.
  let deviceID: String?

  init(_ text: String) throws(CalibrationProblem) {
    let root: Node?
    if let problem = YAMLNesting.problem(in: text) {
      throw CalibrationProblem("is not a camera chain: it has \(problem)")
    }
    do {
      // OpenCV's first line, `%YAML:1.0`, is not YAML. It becomes a comment, which keeps the line
      // numbers.
      root = try Yams.compose(yaml: text.hasPrefix("%YAML:") ? "#" + text : text)
    } catch {
      throw CalibrationProblem("is neither JSON, `key = value` text nor valid YAML: \(error)")
    }
    guard let root, case .mapping(let mapping) = root else {
      throw CalibrationProblem(
        "is neither JSON, `key = value` text nor a Kalibr camera chain (docs/calibration.md shows each)"
      )
    }
    deviceID =
      mapping.lazy.compactMap { entry in
        entry.key.string.flatMap {
          StatedCalibration.isDeviceKey($0) ? entry.value.scalar?.string : nil
        }
      }.first
    var chain = RigidTransform.identity
    while let node = mapping[Node("cam\(cameras.count)")] {
      let camera = KalibrNode(node, path: "cam\(cameras.count)")
      if !cameras.isEmpty { chain = try camera.transform("T_cn_cnm1") * chain }
      cameras.append(
        Camera(
          name: camera.path, pinhole: try Self.pinhole(camera), lens: try Self.lens(camera),
          fromFirst: chain))
    }
    guard cameras.count >= 2 else {
      throw CalibrationProblem(
        "is missing: a Kalibr camera chain has the two cameras cam0 and cam1, one of depth and one of "
          + "color", key: "cam\(cameras.count)")
    }
  }

  /// The two cameras with the capture's sizes, or, of a chain of two, the larger as color.
  func calibration(
    depthSize: (width: Int, height: Int)?, colorSize: (width: Int, height: Int)?
  ) throws(CalibrationProblem) -> DepthCalibration {
    let (depth, color) = try pair(depthSize, colorSize)
    return DepthCalibration(
      registered: false, colorFromDepth: color.fromFirst * depth.fromFirst.inverse,
      depthIntrinsics: depth.pinhole, colorIntrinsics: color.pinhole, depthDistortion: depth.lens,
      colorDistortion: color.lens)
  }

  private func pair(
    _ depthSize: (width: Int, height: Int)?, _ colorSize: (width: Int, height: Int)?
  ) throws(CalibrationProblem) -> (depth: Camera, color: Camera) {
    func matches(_ size: (width: Int, height: Int)?) -> [Camera] {
      cameras.filter { $0.pinhole.width == size?.width && $0.pinhole.height == size?.height }
    }
    let (depths, colors) = (matches(depthSize), matches(colorSize))
    if depths.count == 1, colors.count == 1, depths[0].name != colors[0].name {
      return (depths[0], colors[0])
    }
    let areas = cameras.map { $0.pinhole.width * $0.pinhole.height }
    if cameras.count == 2, areas[0] != areas[1] {
      return areas[0] < areas[1] ? (cameras[0], cameras[1]) : (cameras[1], cameras[0])
    }
    let sizes = cameras.map { "\($0.name) \($0.pinhole.width)×\($0.pinhole.height)" }
    throw CalibrationProblem(
      "does not tell which camera is depth and which is color: give the calibration as JSON",
      key: "resolution", value: sizes.joined(separator: ", "))
  }

  private static func pinhole(_ camera: KalibrNode) throws(CalibrationProblem) -> PinholeCamera {
    // Kalibr's own files have this key. No other model with these four numbers is supported.
    if camera.has("camera_model") { try camera.expect("camera_model", oneOf: ["pinhole"]) }
    let size = try camera.numbers("resolution", counts: 2...2)
    guard let width = Int(exactly: size[0]), let height = Int(exactly: size[1]) else {
      throw camera.problem("resolution", "must be two whole numbers of pixels")
    }
    let focal = try camera.numbers("intrinsics", counts: 4...4)
    let pinhole = PinholeCamera(
      width: width, height: height, fx: focal[0], fy: focal[1], cx: focal[2], cy: focal[3])
    let (sizeKey, focalKey) = ("\(camera.path).resolution", "\(camera.path).intrinsics")
    try CalibrationProblem.check(
      pinhole,
      keys: [
        "width": sizeKey + "[0]", "height": sizeKey + "[1]", "fx": focalKey + "[0]",
        "fy": focalKey + "[1]", "cx": focalKey + "[2]", "cy": focalKey + "[3]",
      ])
    return pinhole
  }

  private static func lens(_ camera: KalibrNode) throws(CalibrationProblem) -> LensDistortion {
    let model = try camera.expect("distortion_model", oneOf: ["radtan", "none"])
    guard model == "radtan" else { return .none }
    return LensDistortion(openCVOrder: try camera.numbers("distortion_coeffs", counts: 4...8))
  }
}
