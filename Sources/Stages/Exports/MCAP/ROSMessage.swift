import Core
import Processing

/// Encodes the fields of messages as CDR, in the order of their definitions.
///
/// If a message ends with a picture, only the part before its bytes is made here.
enum ROSMessage {
  /// Times that fit both `int32` seconds and an unsigned log time: 0 ..< 2³¹ s.
  static let times =
    Timestamp(
      nanoseconds: 0)...Timestamp(
      nanoseconds: Int64(Int32.max) * 1_000_000_000 + 999_999_999)

  /// The transform between two coordinate frames, from `child` to `parent`.
  struct Transform {
    var parent: String
    var child: String
    var translation: [Double]
    var rotation: Quaternion
  }

  static func transforms(_ stamp: Timestamp, _ transforms: [Transform]) -> [UInt8] {
    var cdr = CDRWriter()
    cdr.sequence(of: transforms.count)
    for transform in transforms {
      cdr.header(stamp, transform.parent)
      cdr.text(transform.child)
      cdr.fixed(transform.translation)
      cdr.quaternion(transform.rotation)
    }
    return cdr.bytes
  }

  static func pose(_ stamp: Timestamp, frame: String, _ pose: Pose) -> [UInt8] {
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    cdr.fixed(pose.position)
    cdr.quaternion(pose.orientation)
    return cdr.bytes
  }

  /// The orientation is unknown, for which its covariance is -1.
  ///
  /// - Parameter variances: along each axis; 0 = unknown.
  static func imu(
    _ stamp: Timestamp, frame: String, _ row: SixAxisIMU.Row,
    variances: (angularVelocity: Double, specificForce: Double)
  ) -> [UInt8] {
    func covariance(_ variance: Double) -> [Double] { (0..<9).map { $0 % 4 == 0 ? variance : 0 } }
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    cdr.fixed([0, 0, 0, 1])
    cdr.fixed([-1, 0, 0, 0, 0, 0, 0, 0, 0])
    cdr.fixed([row.angularVelocity.x, row.angularVelocity.y, row.angularVelocity.z])
    cdr.fixed(covariance(variances.angularVelocity))
    cdr.fixed([row.specificForce.x, row.specificForce.y, row.specificForce.z])
    cdr.fixed(covariance(variances.specificForce))
    return cdr.bytes
  }

  /// - Parameter format: `png` or `jpeg`.
  static func compressedImage(
    _ stamp: Timestamp, frame: String, format: String, byteCount: Int
  ) -> [UInt8] {
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    cdr.text(format)
    cdr.sequence(of: byteCount)
    return cdr.bytes
  }

  /// Rows without padding, little-endian.
  static func image(
    _ stamp: Timestamp, frame: String, width: Int, height: Int, encoding: String, bytesPerPixel: Int
  ) -> [UInt8] {
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    cdr.integer(UInt32(clamping: height))
    cdr.integer(UInt32(clamping: width))
    cdr.text(encoding)
    cdr.integer(UInt8(0))
    cdr.integer(UInt32(clamping: width * bytesPerPixel))
    cdr.sequence(of: width * height * bytesPerPixel)
    return cdr.bytes
  }

  /// Pictures have the lens distortion; P is K, since nothing was rectified.
  static func cameraInfo(
    _ stamp: Timestamp, frame: String, _ camera: PinholeCamera, _ lens: LensDistortion?
  ) -> [UInt8] {
    let terms = lens?.openCVOrder ?? []
    let isRational = terms.dropFirst(5).contains { $0 != 0 }
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    cdr.integer(UInt32(clamping: camera.height))
    cdr.integer(UInt32(clamping: camera.width))
    cdr.text(isRational ? "rational_polynomial" : "plumb_bob")
    let written = isRational ? 8 : 5
    cdr.sequence(of: written)
    cdr.fixed((0..<written).map { $0 < terms.count ? terms[$0] : 0 })
    cdr.fixed(camera.rowMajor3x3)
    cdr.fixed([1, 0, 0, 0, 1, 0, 0, 0, 1])
    cdr.fixed(camera.projection3x4)
    // Binning, and the region of interest: x, y, height, width.
    for _ in 0..<6 { cdr.integer(UInt32(0)) }
    cdr.flag(false)
    return cdr.bytes
  }

  /// The altitude is unknown (NaN). The squared accuracy is the variance east and north.
  static func fix(_ stamp: Timestamp, frame: String, _ position: GeoPosition) -> [UInt8] {
    let variance = position.accuracy.map { $0 * $0 }
    var cdr = CDRWriter()
    cdr.header(stamp, frame)
    // A fix of an unknown positioning system.
    cdr.integer(Int8(0))
    cdr.integer(UInt16(0))
    cdr.fixed([position.latitude, position.longitude, .nan])
    cdr.fixed([variance ?? 0, 0, 0, 0, variance ?? 0, 0, 0, 0, 0])
    cdr.integer(UInt8(variance == nil ? 0 : 1))
    return cdr.bytes
  }
}

extension CDRWriter {
  fileprivate mutating func header(_ stamp: Timestamp, _ frame: String) {
    let (seconds, rest) = stamp.secondsAndNanoseconds
    integer(Int32(clamping: seconds))
    integer(rest)
    text(frame)
  }

  fileprivate mutating func quaternion(_ q: Quaternion) { fixed([q.x, q.y, q.z, q.w]) }
}

/// Encodes a message's fields as CDR, version 1, little-endian: the encoding of ROS 2 bags.
///
/// A primitive is aligned to its own size, counted from the byte after the header's four bytes.
struct CDRWriter {
  /// Header and fields so far.
  private(set) var bytes: [UInt8] = [0, 1, 0, 0]

  private static let headerBytes = 4

  mutating func integer(_ value: some FixedWidthInteger) {
    align(to: value.bitWidth / 8)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func number(_ value: Double) { integer(value.bitPattern) }

  /// One byte.
  mutating func flag(_ value: Bool) { integer(UInt8(value ? 1 : 0)) }

  /// Appends the length with the final NUL (u32), then UTF-8 and the NUL.
  mutating func text(_ text: String) {
    integer(UInt32(clamping: text.utf8.count + 1))
    bytes += Array(text.utf8)
    bytes.append(0)
  }

  /// Appends an array of fixed length: its elements only.
  mutating func fixed(_ numbers: [Double]) {
    for value in numbers { number(value) }
  }

  /// Appends the length of a sequence; its elements follow.
  mutating func sequence(of count: Int) { integer(UInt32(clamping: count)) }

  private mutating func align(to size: Int) {
    let past = (bytes.count - Self.headerBytes) % size
    if past != 0 { bytes += [UInt8](repeating: 0, count: size - past) }
  }
}

/// The definitions of the messages.
extension ROSMessage {
  /// Definition of a type, followed by those of all types that it uses directly or indirectly, each once after a
  /// separator line.
  static func schema(of type: String) -> String {
    var text = definitions[type] ?? ""
    for name in dependencies(of: type) {
      text += String(repeating: "=", count: 80) + "\nMSG: \(name)\n"
      text += definitions[name] ?? ""
    }
    return text
  }

  /// In the order of first use.
  private static func dependencies(of type: String) -> [String] {
    var found: [String] = []
    var waiting = [type]
    while let name = waiting.first {
      waiting.removeFirst()
      let used = (definitions[name] ?? "").split(separator: "\n").compactMap { line in
        line.split(separator: " ").first.map { $0.prefix { $0 != "[" } }
      }
      for name in used.map(String.init)
      where definitions[name] != nil && !found.contains(name) {
        found.append(name)
        waiting.append(name)
      }
    }
    return found
  }

  /// The definitions of ROS 2, without comments.
  static let definitions = [
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n",
    "geometry_msgs/Pose":
      "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\ngeometry_msgs/Pose pose\n",
    "geometry_msgs/Transform":
      "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    "geometry_msgs/TransformStamped":
      "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "sensor_msgs/Imu": """
    std_msgs/Header header
    geometry_msgs/Quaternion orientation
    float64[9] orientation_covariance
    geometry_msgs/Vector3 angular_velocity
    float64[9] angular_velocity_covariance
    geometry_msgs/Vector3 linear_acceleration
    float64[9] linear_acceleration_covariance

    """,
    "sensor_msgs/CompressedImage":
      "std_msgs/Header header\nstring format\nuint8[] data\n",
    "sensor_msgs/Image": """
    std_msgs/Header header
    uint32 height
    uint32 width
    string encoding
    uint8 is_bigendian
    uint32 step
    uint8[] data

    """,
    "sensor_msgs/RegionOfInterest":
      "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    "sensor_msgs/CameraInfo": """
    std_msgs/Header header
    uint32 height
    uint32 width
    string distortion_model
    float64[] d
    float64[9] k
    float64[9] r
    float64[12] p
    uint32 binning_x
    uint32 binning_y
    sensor_msgs/RegionOfInterest roi

    """,
    "sensor_msgs/NavSatStatus": """
    int8 STATUS_NO_FIX=-1
    int8 STATUS_FIX=0
    int8 STATUS_SBAS_FIX=1
    int8 STATUS_GBAS_FIX=2
    int8 status
    uint16 SERVICE_GPS=1
    uint16 SERVICE_GLONASS=2
    uint16 SERVICE_COMPASS=4
    uint16 SERVICE_GALILEO=8
    uint16 service

    """,
    "sensor_msgs/NavSatFix": """
    std_msgs/Header header
    sensor_msgs/NavSatStatus status
    float64 latitude
    float64 longitude
    float64 altitude
    float64[9] position_covariance
    uint8 COVARIANCE_TYPE_UNKNOWN=0
    uint8 COVARIANCE_TYPE_APPROXIMATED=1
    uint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2
    uint8 COVARIANCE_TYPE_KNOWN=3
    uint8 position_covariance_type

    """,
  ]
}
