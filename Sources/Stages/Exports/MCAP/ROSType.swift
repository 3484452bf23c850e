/// The message types of a bag, with their definitions.
enum ROSType: String, CaseIterable {
  case tfMessage = "tf2_msgs/TFMessage"
  case poseStamped = "geometry_msgs/PoseStamped"
  case imu = "sensor_msgs/Imu"
  case compressedImage = "sensor_msgs/CompressedImage"
  case image = "sensor_msgs/Image"
  case cameraInfo = "sensor_msgs/CameraInfo"
  case navSatFix = "sensor_msgs/NavSatFix"

  /// `package/msg/Name`, as in schemas and `metadata.yaml`.
  var fullName: String {
    let parts = rawValue.split(separator: "/")
    return parts.joined(separator: "/msg/")
  }

  /// Definition of the type, followed by those of all types that it uses directly or indirectly, each once after a
  /// separator line.
  var schemaText: String {
    var text = Self.definitions[rawValue] ?? ""
    for name in dependencies {
      text += String(repeating: "=", count: 80) + "\nMSG: \(name)\n"
      text += Self.definitions[name] ?? ""
    }
    return text
  }

  /// In the order of first use.
  private var dependencies: [String] {
    var found: [String] = []
    var waiting = [rawValue]
    while let name = waiting.first {
      waiting.removeFirst()
      let used = (Self.definitions[name] ?? "").split(separator: "\n").compactMap { line in
        line.split(separator: " ").first.map { $0.prefix { $0 != "[" } }
      }
      for name in used.map(String.init)
      where Self.definitions[name] != nil && !found.contains(name) {
        found.append(name)
        waiting.append(name)
      }
    }
    return found
  }

  /// The definitions of ROS 2, without comments.
  private static let definitions = [
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
