import Media
import Core
import SystemPackage

/// Synthesizes captures of the ScanNet app: metadata, depth, video, motion sensors, camera
/// settings.
enum ScanNetFamily: SyntheticFamily {
  static let name = "scannet"
  static let generations = ["v1"]
  static let generationsWithMotion = generations
  static let faults = ScanNetFaults.all.map(\.description)
  static let about = "1296x968 color and 640x480 depth, 90 frames at 30 per second"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    var plan = ScanNetPlan(frames: options.frames ?? 90)
    let faults = try ScanNetFault.apply(
      options.faults, of: ScanNetFaults.all, to: &plan, form: ((), "v1"), frames: plan.frames,
      leastFrames: 3, family: name)
    let cameras = try ScanNetCameras(options: options, isRegistered: plan.isRegistered)
    if plan.missingFiles.contains(.text), (cameras.depth.width, cameras.depth.height) != (640, 480)
    {
      throw SynthesisError("without metadata depth can only be 640x480")
    }
    let moment = SeededNames.moment(seed: options.seed)
    let device = SeededNames.uuid(seed: options.seed, "device")
    let id = options.id ?? "\(moment.date())_\(moment.time())__\(device)"
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = try ScanNetWriter(
        id: id, plan: plan, cameras: cameras, options: options, folder: folder)
      let warnings = try writer.write(
        device: device, moment: moment, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: "v1", folder: places.capture, truth: places.truth,
        frames: plan.canonicalFrames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}

/// The two cameras and the transform between them.
struct ScanNetCameras {
  let color: PinholeCamera
  let depth: PinholeCamera
  let depthMount: CameraMount
  /// The transform as written, with six decimals.
  let depthFromColor: RigidTransform

  /// Full size is 2592x1936; the app's pictures have half of it, and other sizes are scaled from
  /// there.
  init(options: SynthesisOptions, isRegistered: Bool) throws {
    let width = options.width ?? 1296
    let height = options.height ?? 968
    let depthWidth = options.depthWidth ?? 640
    let depthHeight = options.depthHeight ?? 480
    color =
      PinholeCamera(
        width: 1296, height: 968, fx: 1170.187988, fy: 1170.187988, cx: 647.75, cy: 483.75
      ).scaled(toWidth: width, height: height).roundedToSixDecimals
    depth =
      PinholeCamera(
        width: 640, height: 480, fx: 571.623718, fy: 571.623718, cx: 319.5, cy: 239.5
      ).scaled(toWidth: depthWidth, height: depthHeight).roundedToSixDecimals
    // The color lens is 38 mm beside and 21 mm behind the depth lens, rotated by about a degree.
    let turn =
      Matrix3.aboutX(0.0155) * Matrix3.aboutY(0.0060) * Matrix3.aboutZ(-0.0042)
    let exact =
      isRegistered
      ? RigidTransform.identity
      : RigidTransform(rotation: turn.rowMajor, translation: [-0.038214, -0.003108, -0.021437])
    depthFromColor = RigidTransform(
      rotation: exact.rotation.map { Decimals.round($0, 6) },
      translation: exact.translation.map { Decimals.round($0, 6) })
    let colorFromDepth = exact.inverse
    let r = colorFromDepth.rotation
    depthMount = CameraMount(
      colorFromCamera: Matrix3(
        x: Vector3(r[0], r[3], r[6]), y: Vector3(r[1], r[4], r[7]), z: Vector3(r[2], r[5], r[8])),
      position: Vector3(
        colorFromDepth.translation[0], colorFromDepth.translation[1],
        colorFromDepth.translation[2]))
  }
}
