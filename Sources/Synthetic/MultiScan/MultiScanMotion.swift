import SystemPackage

/// The five motion files: their content and names.
struct MultiScanMotion {
  struct File {
    /// The name of the element in the header of iOS, too.
    let fileExtension: String
    let androidElement: String
    var iosColumns = ["x", "y", "z"]
    /// The stored value of a sample.
    let stored: @Sendable (InertialSample, _ isAndroid: Bool) -> Vector3
    /// Sensor type and value in a reader's row.
    let read: @Sendable (Vector3, _ isAndroid: Bool) -> (String, Vector3)
  }

  static let files = [
    File(
      fileExtension: "rot", androidElement: "rotation",
      stored: { sample, isAndroid in isAndroid ? sample.gyroscope : sample.rotationRate },
      read: { value, isAndroid in (isAndroid ? "gyroscope" : "rotationRate", value) }),
    File(
      fileExtension: "acce", androidElement: "accelerometer",
      stored: { sample, isAndroid in
        // Android reports specific force, including gravity.
        isAndroid
          ? sample.acceleration * -InertialSensors.standardGravity : sample.userAcceleration
      },
      read: { value, isAndroid in
        isAndroid
          ? ("accelerometer", value)
          : ("userAcceleration", value * InertialSensors.standardGravity)
      }),
    File(
      fileExtension: "mag", androidElement: "magnet", stored: { sample, _ in sample.magneticField },
      read: { value, _ in ("magnetometer", value) }),
    File(
      fileExtension: "atti", androidElement: "attitude",
      iosColumns: ["roll", "pitch", "yaw"],
      stored: { sample, isAndroid in
        let a = sample.attitude
        return isAndroid ? Vector3(a.z, a.y, a.x) * (180 / Trigonometry.pi) : a
      },
      read: { value, isAndroid in
        let radians = Trigonometry.pi / 180
        return (
          "attitude", isAndroid ? Vector3(value.z, value.y, value.x) * radians : value
        )
      }),
    File(
      fileExtension: "grav", androidElement: "gravity",
      stored: { sample, isAndroid in
        isAndroid ? sample.gravity * -InertialSensors.standardGravity : sample.gravity
      },
      read: { value, isAndroid in
        ("gravity", isAndroid ? value : value * InertialSensors.standardGravity)
      }),
  ]

  let plan: MultiScanPlan

  private var isAndroid: Bool { plan.generation.isAndroid }

  /// Writes a file with `samples`, which are in time order.
  func write(
    _ file: File, to path: FilePath, samples: [(nanoseconds: Int64, value: Vector3)]
  ) throws {
    let output = try GrowingFile(path)
    if plan.hasMotionHeaders {
      let surplus = file.fileExtension == "acce" ? plan.motionClaimSurplus : 0
      try output.append(header(file, claim: samples.count + surplus))
    }
    for (nanoseconds, value) in samples {
      let numbers = value.array.map(\.bitPattern)
      if isAndroid {
        try output.append(Bytes.bigEndian(nanoseconds))
        for number in numbers { try output.append(Bytes.bigEndian(number)) }
      } else {
        try output.append(nanoseconds)
        for number in numbers { try output.append(number) }
      }
    }
    if file.fileExtension == "mag" {
      try output.append([UInt8](repeating: 0x33, count: plan.motionPartialBytes))
    }
    try output.close()
  }

  private func header(_ file: File, claim: Int) -> String {
    let columns = isAndroid ? ["x", "y", "z"] : file.iosColumns
    let lines =
      [
        "ply", "format binary_\(isAndroid ? "big" : "little")_endian 1.0",
        "element \(isAndroid ? file.androidElement : file.fileExtension) \(claim)",
        isAndroid ? "comment imu sensor data with timestamp" : "comment ",
        "property \(isAndroid ? "uint64" : "int64") timestamp",
      ] + columns.map { "property double \($0)" } + ["end_header"]
    return lines.map { $0 + "\n" }.joined()
  }
}
