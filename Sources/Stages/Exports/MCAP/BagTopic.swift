/// The topics of a bag, in the order in which messages of equal times are written.
enum BagTopic: Int, CaseIterable, Sendable {
  case staticTransforms, transforms, pose, imu, compressedColor, rawColor, colorCamera, depth,
    depthCamera, fix

  var name: String {
    switch self {
    case .staticTransforms: "/tf_static"
    case .transforms: "/tf"
    case .pose: "/pose"
    case .imu: "/imu0"
    case .compressedColor: "/cam0/image_raw/compressed"
    case .rawColor: "/cam0/image_raw"
    case .colorCamera: "/cam0/camera_info"
    case .depth: "/depth0/image_raw"
    case .depthCamera: "/depth0/camera_info"
    case .fix: "/fix"
    }
  }

  var type: ROSType {
    switch self {
    case .staticTransforms, .transforms: .tfMessage
    case .pose: .poseStamped
    case .imu: .imu
    case .compressedColor: .compressedImage
    case .rawColor, .depth: .image
    case .colorCamera, .depthCamera: .cameraInfo
    case .fix: .navSatFix
    }
  }

  /// Transient local for static transforms, so that late subscribers receive them; else empty.
  var qualityOfService: String {
    guard self == .staticTransforms else { return "" }
    let forever = "{sec: 9223372036, nsec: 854775807}"
    return "- {history: 1, depth: 1, reliability: 1, durability: 1, deadline: \(forever), "
      + "lifespan: \(forever), liveliness: 1, liveliness_lease_duration: \(forever), "
      + "avoid_ros_namespace_conventions: false}"
  }

  var channel: MCAPWriter.Channel {
    MCAPWriter.Channel(
      topic: name, schema: MCAPWriter.Schema(name: type.fullName, text: type.schemaText),
      qualityOfService: qualityOfService)
  }
}
