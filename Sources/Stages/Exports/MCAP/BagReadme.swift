import Captures
import Core
import Engine

/// `README.txt` of a bag.
enum BagReadme {
  static func readme(
    _ content: BagContent, _ statistics: MCAPWriter.Statistics
  ) -> ExportReadme {
    var readme = ExportReadme("ROS 2 bag (MCAP)")
    readme.contents = ["bag/ is the bag; bag/bag.mcap by itself also opens in viewers. Its topics:"]
    readme.contents += statistics.channels.map {
      "  \($0.channel.topic), \($0.channel.schema.name), \(Plural.text($0.messages, "message"))"
    }
    readme.opening = [
      ("ros2 bag play bag", "ROS 2"),
      ("rerun bag/bag.mcap", "rerun; Foxglove, Lichtblick and PlotJuggler open the same file"),
      ("rosbags-convert --src bag --dst bag.bag", "A ROS 1 bag, by the package rosbags"),
    ]
    readme.conventions = [
      "Stamps are the capture's own clock, not the time of day: viewers that show 1970 are right. Log time, "
        + "publish time and header.stamp are the same."
    ]
    let timeline = content.timeline
    if !(timeline.colors + timeline.depths + timeline.poses).isEmpty {
      readme.conventions.append(
        "cam0 has OpenCV axes (x right, y down, z forward), which are ROS's optical axes; pixel centers at "
          + "integers.")
    }
    if !content.timeline.poses.isEmpty {
      let consequence =
        switch content.source.world {
        case .yUp:
          "/tf_static turns it into map, where z is up: choose map as the fixed frame."
        case .zUp: "map is the same."
        case .firstCamera: "There is no map: choose world as the fixed frame."
        }
      readme.conventions.append(
        "/tf and /pose: cam0 in world, \(content.source.worldWords), meters. \(consequence)")
    }
    if !content.timeline.imu.isEmpty {
      readme.conventions.append(
        "/imu0: rad/s and m/s² along device axes (x right, y up, z out of the screen); specific force: at "
          + "rest, face up, z is +9.8. Orientation is not known: its covariance begins with -1.")
    }
    if !content.timeline.depths.isEmpty {
      readme.conventions.append(
        "/depth0/image_raw lies on the color grid: 16UC1, millimeters along the optical axis, 0 = none; at "
          + "the time of the depth picture.")
    }
    if !timeline.colors.isEmpty, let sentence = TimeOffsetText.sentence(content.source.context) {
      readme.conventions.append(sentence)
    }
    if !content.fixes.isEmpty {
      readme.conventions.append(
        "/fix: the altitude is NaN"
          + (content.fixes.contains { $0.altitude != nil }
            ? ", because the message counts it from the ellipsoid and the phone from sea level"
            : "")
          + ". The covariance is the accuracy squared, east and north; the recorder provides no more."
      )
    }
    if let cropped = content.imu?.cropped,
      let remark = IMUCrop.remark(cropped, content.source.context.parameters)
    {
      readme.remarks.append(remark)
    }
    readme.remarks += remarks(content)
    return readme
  }

  private static func remarks(_ content: BagContent) -> [String] {
    let source = content.source
    let capture = source.context.capture
    var remarks: [String] = []
    if !content.hasCamera {
      remarks.append(
        "The video's display matrix mirrors its pictures: poses, intrinsics, depth and the place of the IMU "
          + "do not belong to such pictures and are not here.")
    }
    if source.pictures == nil { remarks.append("The capture has no color pictures.") }
    if capture.depth.value != nil, source.depth == nil, content.hasCamera {
      remarks.append(
        "Depth is not here: the calibration that brings it to the color grid is incomplete.")
    }
    for (reason, count) in content.depthLeftOut.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      remarks.append("Frames without depth: \(count) (\(reason.rawValue)).")
    }
    if source.pictures != nil, source.cameras.isEmpty {
      remarks.append("No intrinsics: there is no camera_info.")
    }
    return remarks
  }
}
