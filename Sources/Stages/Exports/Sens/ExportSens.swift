import Captures
import Core
import Engine
import Media

/// Writes one `.sens` file, version 4: the container of ScanNet and BundleFusion.
enum ExportSens: ExportStage {
  static let name = "export-sens"
  static let version = 4
  static let sentence =
    ".sens file of ScanNet and BundleFusion: color, depth, poses and IMU in one file; needs color, depth, "
    + "intrinsics."
  static let ports = [colorPort, jpegPort, depthPort, alignedPort]
  static let parameters =
    ExportParameters.selection
    + ParameterDescription.list(
      pictures, quality, ExportParameters.depth, ExportParameters.compression,
      CommonCamera.parameter, ExportParameters.imuMargin, calibrated)
    + MotionUnits.shared + CalibrationChoice.parameters

  private static let pictures = Parameter(
    ExportParameters.encoding.name, .choice([.jpeg, .png]), default: PictureEncoding.jpeg,
    "jpeg: what all readers take; files of color/ that are JPEG stay as they are. png: lossless.")
  private static let quality = ExportParameters.quality.saying(
    "Quality of JPEG that is encoded again.")
  static let calibrated = Parameter(
    "calibrated", .flag, default: false,
    "What ScanNet's calibrate makes: undistorted color, and depth aligned to it at its own size. Needs the "
      + "lens coefficients of color; depth.undistortion corrects its distances.")

  static let needs: ExportNeeds = [.picture, .depth, .intrinsics, .motionUnits]
  static let depthRule = DepthChoice.Rule.chosen
  static let reads: Set<CapturePart> = [.imu]
  static func pictures(_ parameters: ParameterValues) -> String? {
    parameters[calibrated] ? "color" : PictureEncoding.port(parameters)
  }

  /// There is a common camera: frames need none of their own.
  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, [.picture, .depth])
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    if let error = context.capture.imu.error { throw error }
    guard let pictures = source.pictures, let depth = source.depth,
      let nativeSize = source.depthSize
    else { throw StageDoesNotApply("no frame is left") }
    var cameras = try RGBDCameras(source, frames)
    let calibration =
      context.parameters[calibrated]
      ? try SensCalibration(source, depth, color: cameras.color) : nil
    var depthSize = nativeSize
    if let calibration {
      cameras = RGBDCameras(color: cameras.color, depth: calibration.depthCamera)
      depthSize = (calibration.depthCamera.width, calibration.depthCamera.height)
    }
    let form = context.parameters[ExportParameters.encoding]
    let camera = cameras.color.camera
    let header = SensHeader(
      sensorName: context.capture.familyDescription.sensorName
        + (calibration == nil ? "" : SensCalibration.nameSuffix), cameras: cameras,
      form: form,
      colorSize: (source.width ?? camera.width, source.height ?? camera.height),
      depthSize: depthSize, frames: frames.count)
    let imu = SensIMU(MotionUnits.samples(context), IMUCrop(source, frames))
    let work = SensFrames(
      source: source, pictures: pictures, depth: depth, frames: frames, header: header,
      calibration: calibration)
    let name = OutputName.of(id: context.capture.id) + ".sens"
    try write(name, header.bytes, work, imu, folder)
    content.names = frames.indices.map(String.init)
    content.imu = (imu.frames, imu.leftOut + imu.cropped)
    content.depth = calibration == nil ? source.depthChoice : .aligned
    content.cameras = .one(cameras.color)
    content.poses = if case .absent = context.capture.poses { .identity } else { .recorded }
    content.zeroTimes = work.framesWithoutTime
    if imu.frames > 0 { content.inertial = ExportContent.Inertial(zeros: imu.zeros) }
    content.isUndistorted = calibration != nil
    return readme(name, source, cameras, imu, form, isCalibrated: calibration != nil)
  }

  /// Writes the file in one pass. Usual readers ignore short reads and show zeroed frames, so the
  /// length is compared with the sum of the stated part sizes.
  private static func write(
    _ name: String, _ header: [UInt8], _ frames: SensFrames, _ imu: SensIMU, _ folder: ExportFolder
  ) throws {
    let file = try folder.create(name)
    try file.append(header)
    let frameBytes = try frames.write(to: file)
    var tail: [UInt8] = []
    tail.sens(UInt64(imu.frames))
    try file.append(tail + imu.bytes)
    try file.finish()
    let expected =
      Int64(header.count) + frameBytes + 8 + Int64(SensIMU.frameBytes) * Int64(imu.frames)
    let written = folder.context.staging.outputs.first { $0.path == name }?.bytes
    guard written == expected else {
      throw InternalError(
        "\(name) has \(written ?? 0) bytes, its header and frames state \(expected)")
    }
  }
}

/// The header of a `.sens` file, version 4.
struct SensHeader {
  var sensorName: String
  var cameras: RGBDCameras
  /// The form of color pictures: PNG or JPEG.
  var form: PictureEncoding
  var colorSize: (width: Int, height: Int)
  var depthSize: (width: Int, height: Int)
  var frames: Int

  /// 304 bytes and the name.
  var bytes: [UInt8] {
    let name = Array(sensorName.utf8)
    let identity = RigidTransform.identity.rowMajor
    var bytes: [UInt8] = []
    bytes.sens(UInt32(4))
    bytes.sens(UInt64(name.count))
    bytes += name
    bytes.sens(matrix: cameras.color.camera.rowMajor4x4)
    bytes.sens(matrix: identity)
    bytes.sens(matrix: cameras.depth.rowMajor4x4)
    bytes.sens(matrix: cameras.colorFromDepth.rowMajor)
    // PNG or JPEG.
    bytes.sens(Int32(form == .png ? 1 : 2))
    // zlib.
    bytes.sens(Int32(1))
    for side in [colorSize.width, colorSize.height, depthSize.width, depthSize.height] {
      bytes.sens(UInt32(clamping: side))
    }
    // Depth units per meter.
    bytes.sens(Float(1000))
    bytes.sens(UInt64(frames))
    return bytes
  }
}

extension ExportSens {
  fileprivate static func readme(
    _ name: String, _ source: ExportSource, _ cameras: RGBDCameras, _ imu: SensIMU,
    _ form: PictureEncoding, isCalibrated: Bool
  ) -> ExportReadme {
    ExportReadme("RGB-D sequence in ScanNet's .sens container, version 4") {
      "\(name) holds the frames that have color and depth, numbered from 0; frames.csv maps their numbers to "
        + "the canonical frames of the capture. Color is \(form == .png ? "PNG" : "JPEG"), depth is a zlib "
        + "stream of 16-bit little-endian millimeters along the optical axis, 0 = none."
      if form == .png { "Some readers take no PNG: export with pictures=jpeg for them." }
    } opening: {
      ("SensorData('\(name)')", "In Python with SensorData.py of ScanNet's SensReader")
      ("sens \(name) OUTPUT-FOLDER", "With ScanNet's C++ reader, which unpacks it into files")
    } conventions: {
      for convention in isCalibrated ? SensCalibration.conventions : cameras.conventions(source) {
        convention
      }
      if case .absent = source.context.capture.poses {
        "Every pose is the identity, which readers take as not computed yet."
      } else {
        "Poses: camera to world, meters, \(source.worldWords). A frame whose tracking was lost holds -inf in all "
          + "sixteen numbers."
      }
      if source.context.capture.frames.contains(where: { $0.pictureTime != nil }) {
        "Times are microseconds on the capture's clock, rounded down; 0 = unknown."
      } else {
        "No time is known: all are 0."
      }
      "Numbers of the header \(source.hasPoses ? "and of the poses " : "")are 32-bit floats."
    } remarks: {
      for remark in cameras.remarks { remark }
      if imu.frames > 0 {
        "\(imu.frames) IMU samples at the times of the rotation rate: rad/s, acceleration without gravity and "
          + "gravity in g, magnetic field in µT, attitude in rad (roll, pitch, yaw), with the signs that were "
          + "recorded."
      } else if imu.leftOut == 1 {
        "One IMU sample was recorded and is left out: usual readers cannot read a single one."
      } else {
        "The file holds no IMU samples."
      }
      if let remark = IMUCrop.remark(imu.cropped, source.context.parameters) { remark }
    }
  }
}

/// The inertial samples of a `.sens` file: one frame of 128 bytes per time of the rotation rate.
struct SensIMU {
  /// The frames, without the preceding count.
  private(set) var bytes: [UInt8] = []
  private(set) var frames = 0
  /// Sensors that the capture lacks, or lacks at the time of a frame, and for which zeros are
  /// written.
  private(set) var zeros: [String] = []
  /// Number of rotation rates without a frame.
  private(set) var leftOut = 0
  /// Number of rotation rates left out because they are too far from the exported frames.
  private(set) var cropped = 0

  static let frameBytes = 128

  /// Positions of the five vectors in a frame, in doubles, and whether the field is in g.
  private static let fields: [(sensors: [String], place: Int, isInG: Bool)] = [
    (["rotationRate", "gyroscope"], 0, false), (["userAcceleration"], 3, true),
    (["magnetometer"], 6, false), (["attitude"], 9, false), (["gravity"], 12, true),
  ]

  /// Samples of other sensors are used only at exactly the time of a rotation rate; otherwise zeros
  /// are written. The signs are the recorded ones. A single frame is left out, because a usual
  /// reader's search for the nearest one would read past its end.
  ///
  /// Cost: one pass; 128 bytes per sample.
  init(_ imu: IMUStream?, _ crop: IMUCrop? = nil) {
    guard let imu, let rate = Self.fields[0].sensors.firstMap({ imu.sensors.firstIndex(of: $0) })
    else { return }
    var placeOfSensor = [Int: (place: Int, isInG: Bool)]()
    for field in Self.fields {
      guard let sensor = field.sensors.firstMap({ imu.sensors.firstIndex(of: $0) }) else {
        continue
      }
      placeOfSensor[sensor] = (field.place, field.isInG)
    }
    var position = 0
    var present = [Int](repeating: 0, count: Self.fields.count)
    var samples = imu.samples
    if let crop {
      func times(_ samples: [IMUSample]) -> Int {
        Set(samples.filter { $0.sensor == rate }.map(\.timestamp)).count
      }
      let before = times(samples)
      _ = crop.crop(&samples, time: \.timestamp)
      cropped = before - times(samples)
    }
    while position < samples.count {
      let time = samples[position].timestamp
      var values = [Double](repeating: 0, count: 15)
      var found: [Int] = []
      var hasRate = false
      while position < samples.count, samples[position].timestamp == time {
        let sample = samples[position]
        position += 1
        guard let (place, isInG) = placeOfSensor[sample.sensor] else { continue }
        hasRate = hasRate || sample.sensor == rate
        found.append(place / 3)
        for (offset, value) in [sample.x, sample.y, sample.z].enumerated() {
          values[place + offset] =
            isInG ? SpecificForce.g(fromMetersPerSecondSquared: value) : value
        }
      }
      guard hasRate else { continue }
      // The format's time is unsigned.
      guard time.nanoseconds >= 0 else {
        leftOut += 1
        continue
      }
      frames += 1
      for field in Set(found) { present[field] += 1 }
      for value in values { bytes.sens(value) }
      bytes.sens(time: time)
    }
    zeros = Self.fields.filter { present[$0.place / 3] < frames }.compactMap(\.sensors.first)
    if frames == 1 {
      leftOut += 1
      frames = 0
      bytes = []
    }
  }
}

extension [String] {
  /// The first result that is not `nil`.
  fileprivate func firstMap<Result>(_ body: (String) -> Result?) -> Result? {
    for element in self {
      if let result = body(element) { return result }
    }
    return nil
  }
}

/// Appends numbers of a `.sens` file: little-endian, unaligned, no padding.
extension [UInt8] {
  mutating func sens<Number: FixedWidthInteger>(_ value: Number) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  mutating func sens(_ value: Float) { sens(value.bitPattern) }
  mutating func sens(_ value: Double) { sens(value.bitPattern) }

  /// Microseconds: 0 = none, also for times before the clock's zero, which `.sens` cannot represent.
  mutating func sens(time: Timestamp?) {
    sens(time.map { UInt64(clamping: $0.microseconds) } ?? 0)
  }

  /// Appends sixteen numbers by rows, each rounded to a float.
  mutating func sens(matrix rowMajor: [Double]) {
    for number in rowMajor { sens(Float(number)) }
  }
}
