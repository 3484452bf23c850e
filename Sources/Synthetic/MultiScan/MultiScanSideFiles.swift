import Core
import SystemPackage

extension Synthesis<MultiScanFamily> {
  /// The metadata document of each mode; Android's second mode writes a `.txt`.
  func metadata(_ samples: MultiScanSamples) throws -> [UInt8] {
    let streams = streams(samples)
    return switch plan.generation {
    case .androidPlain: try plain(samples).bytes()
    case .androidARCore:
      // Opened for appending: an earlier recording's document precedes this one.
      try document(streams, description: "first write").bytes(escapingSlashes: true)
        + Array("\n".utf8) + document(streams, description: "Test").bytes(escapingSlashes: true)
    default:
      try document(streams, description: "Test").bytes(pretty: true, escapingSlashes: true)
    }
  }

  private var device: String { SeededNames.uuid(seed: options.seed, "device") }

  private func document(_ streams: [JSONObject], description: String) -> JSONObject {
    let is2020 = plan.generation == .iosLidar2020
    let isAndroid = plan.generation.isAndroid
    var members: JSONObject = [
      "device": [
        "id": isAndroid ? nil : device, "type": isAndroid ? "Maker_Model 4" : "iPad8,10",
        "name": isAndroid ? "lab phone" : "Test\u{2019}s iPad",
      ],
      "user": ["name": "Test User"],
      "scene": [
        "type": "Bookstore / Library", "description": description,
        "gps_location": hasPosition ? [MultiScanFamily.latitude, MultiScanFamily.longitude] : [],
      ] as JSONObject,
      "streams": streams, "number_of_files": streams.count + 1,
    ]
    if !is2020 {
      members["depth_unit"] = isAndroid ? "mm" : "m"
      members[isAndroid ? "depth_confidence_available" : "depth_confidence_avaliable"] = true
      members["depth_confidence_value_range"] = isAndroid ? [0, 255] : [0, 2]
      members["camera_orientation_quaternion_format"] = isAndroid ? "xyzw" : "wxyz"
      members["camera_orientation_euler_angles_format"] = isAndroid ? nil : "xyz"
    }
    return members
  }

  /// Whether there is a position at the start, in the modes of which a sample has one.
  var hasPosition: Bool { plan.generation == .iosLidar && plan.hasMetadata }

  private func streams(_ samples: MultiScanSamples) -> [JSONObject] {
    let generation = plan.generation
    let frames = plan.frames
    var streams: [JSONObject] = []
    if generation.isLidar || generation == .androidARCore {
      streams.append(
        stream(
          "depth_back_1", generation.isAndroid ? "ARCore" : "lidar_sensor",
          generation.isAndroid ? "uint8_zlib" : "float16_zlib", "depth.zlib", frames,
          resolution: generation == .iosLidar2020
            ? [] : [rig.depth.height, rig.depth.width]))
    }
    if generation == .iosStereo {
      streams.append(
        stream(
          "stereo_depth_1", "dual_camera_stereo_depth", "float16_zlib", "depth.zlib", frames,
          resolution: [rig.depth.height, rig.depth.width]))
    }
    for sensor in MultiScanSensor.all where generation.hasMotion {
      let name = sensor.ending
      streams.append(stream("\(name)_1", name, "bin", name, samples.stored[name]?.count ?? 0))
    }
    for camera in 1...(generation == .iosDual ? 2 : 1) {
      streams.append(
        stream(
          "color_back_\(camera)", generation.isAndroid ? "rgb_camera" : "color_camera", "h264",
          "mp4", frames, resolution: [rig.color.height, rig.color.width],
          intrinsics: generation.isAndroid
            ? nil : colorCamera(0).columnMajor))
    }
    if generation.hasCameraInfo {
      streams.append(
        stream(
          generation == .iosLidar2020 ? "camera_info_1" : "camera_info_color_back_1",
          "camera_info", "jsonl", "jsonl", frames))
      streams.append(
        stream("confidence_map", "confidence_map", "uint8_zlib", "confidence.zlib", frames))
    }
    return streams
  }

  private func stream(
    _ id: String, _ type: String, _ encoding: String, _ fileExtension: String, _ frames: Int,
    resolution: [Int]? = nil, intrinsics: [Double]? = nil
  ) -> JSONObject {
    let is2020 = plan.generation == .iosLidar2020
    var members: JSONObject = [
      "id": id, "type": type, "encoding": encoding, "frequency": 60,
      "file_extension": fileExtension,
      is2020 ? "num_frames" : "number_of_frames": frames,
    ]
    if let resolution {
      members["resolution"] = resolution
      members[is2020 ? "intrinsics_matrix" : "intrinsics"] = intrinsics
      members[is2020 ? "extrinsics_matrix" : "extrinsics"] = nil
    }
    return members
  }

  /// `.txt` of Android's plain mode: width first, as text.
  private func plain(_ samples: MultiScanSamples) -> JSONObject {
    let types = [
      "rot": "rotation_1", "acce": "accelerometer_1", "grav": "gravity_1", "mag": "magnet_1",
      "atti": "attitude_1",
    ]
    let motion: [JSONObject] = MultiScanSensor.all.map { sensor in
      let name = sensor.ending
      return [
        "id": "\(name)_1", "type": types[name] ?? name, "freqeuncy": 100,
        "num_frames": samples.stored[name]?.count ?? 0,
      ]
    }
    let camera: JSONObject = [
      "id": "color_back_1", "type": "color_camera", "encoding": "h264", "frequency": 60,
      "num_frames": "\(plan.frames)",
      // As stored: the movie is turned for display.
      "resolution": ["\(rig.color.height)", "\(rig.color.width)"],
      "focal_length": nil, "principle_point": nil, "extrinsics_matrix": nil,
    ]
    return [
      "device": ["id": device, "type": "Maker Model 4", "name": "p"],
      "user": ["name": "Test User"],
      "scene": ["description": "s", "sceneType": "Office", "gps": nil] as JSONObject,
      "stream": [camera] + motion,
    ]
  }
}

/// One of the five motion files: its name and content.
struct MultiScanSensor {
  /// The ending of the file; the name of the element in the header of iOS, too.
  let ending: String
  let androidElement: String
  var iosColumns = ["x", "y", "z"]
  /// The stored value of a sample.
  let stored: @Sendable (InertialSample, _ isAndroid: Bool) -> Vector3
  /// Sensor type and value in a reader's row.
  let read: @Sendable (Vector3, _ isAndroid: Bool) -> (MotionSensor, Vector3)

  static let all = [
    MultiScanSensor(
      ending: "rot", androidElement: "rotation",
      stored: { sample, isAndroid in isAndroid ? sample.gyroscope : sample.rotationRate },
      read: { value, isAndroid in (isAndroid ? .gyroscope : .rotationRate, value) }),
    MultiScanSensor(
      ending: "acce", androidElement: "accelerometer",
      stored: { sample, isAndroid in
        // Android reports specific force, including gravity.
        isAndroid
          ? sample.acceleration * -InertialSensors.standardGravity : sample.userAcceleration
      },
      read: { value, isAndroid in
        isAndroid
          ? (.accelerometer, value)
          : (.userAcceleration, value * InertialSensors.standardGravity)
      }),
    MultiScanSensor(
      ending: "mag", androidElement: "magnet", stored: { sample, _ in sample.magneticField },
      read: { value, _ in (.magnetometer, value) }),
    MultiScanSensor(
      ending: "atti", androidElement: "attitude",
      iosColumns: ["roll", "pitch", "yaw"],
      stored: { sample, isAndroid in
        let a = sample.attitude
        return isAndroid ? Vector3(a.z, a.y, a.x) * (180 / Trigonometry.pi) : a
      },
      read: { value, isAndroid in
        let radians = Trigonometry.pi / 180
        return (
          .attitude, isAndroid ? Vector3(value.z, value.y, value.x) * radians : value
        )
      }),
    MultiScanSensor(
      ending: "grav", androidElement: "gravity",
      stored: { sample, isAndroid in
        isAndroid ? sample.gravity * -InertialSensors.standardGravity : sample.gravity
      },
      read: { value, isAndroid in
        (.gravity, isAndroid ? value : value * InertialSensors.standardGravity)
      }),
  ]
}

extension Synthesis<MultiScanFamily> {
  /// Writes a motion file with `samples`, which are in time order.
  func write(
    _ sensor: MultiScanSensor, _ samples: [(time: Int64, value: Vector3)]
  ) throws {
    let output = try GrowingFile(path(sensor.ending))
    if plan.hasMotionHeaders {
      let surplus = sensor.ending == "acce" ? plan.motionClaimSurplus : 0
      try output.append(header(sensor, claim: samples.count + surplus))
    }
    for (time, value) in samples {
      let numbers = [UInt64(bitPattern: time)] + value.array.map(\.bitPattern)
      for number in numbers {
        try output.append(plan.generation.isAndroid ? number.byteSwapped : number)
      }
    }
    if sensor.ending == "mag" {
      try output.append([UInt8](repeating: 0x33, count: plan.motionPartialBytes))
    }
    try output.close()
  }

  private func header(_ sensor: MultiScanSensor, claim: Int) -> String {
    let isAndroid = plan.generation.isAndroid
    let columns = isAndroid ? ["x", "y", "z"] : sensor.iosColumns
    let lines =
      [
        "ply", "format binary_\(isAndroid ? "big" : "little")_endian 1.0",
        "element \(isAndroid ? sensor.androidElement : sensor.ending) \(claim)",
        isAndroid ? "comment imu sensor data with timestamp" : "comment ",
        "property \(isAndroid ? "uint64" : "int64") timestamp",
      ] + columns.map { "property double \($0)" } + ["end_header"]
    return lines.map { $0 + "\n" }.joined()
  }
}
