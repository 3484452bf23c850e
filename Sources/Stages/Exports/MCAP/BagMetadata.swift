import Yams

/// Writes `metadata.yaml` of a ROS 2 bag.
enum BagMetadata {
  static func text(_ statistics: MCAPWriter.Statistics, file: String) throws -> String {
    let start = mapping([("nanoseconds_since_epoch", number(statistics.firstTime))])
    let duration = mapping([("nanoseconds", number(statistics.lastTime - statistics.firstTime))])
    let topics = statistics.channels.map { channel, messages in
      mapping([
        (
          "topic_metadata",
          mapping([
            ("name", plain(channel.topic)), ("type", plain(channel.schema.name)),
            ("serialization_format", plain("cdr")),
            ("offered_qos_profiles", quoted(channel.qualityOfService)),
          ])
        ), ("message_count", number(messages)),
      ])
    }
    let information = mapping([
      ("version", number(5)),
      ("storage_identifier", plain("mcap")),
      ("duration", duration),
      ("starting_time", start),
      ("message_count", number(statistics.messages)),
      ("topics_with_message_count", Node.sequence(.init(topics))),
      ("compression_format", quoted("")),
      ("compression_mode", quoted("")),
      ("relative_file_paths", Node.sequence(.init([plain(file)]))),
      (
        "files",
        Node.sequence(
          .init([
            mapping([
              ("path", plain(file)), ("starting_time", start), ("duration", duration),
              ("message_count", number(statistics.messages)),
            ])
          ]))
      ),
    ])
    // Lines are not wrapped: texts of the quality of service are long.
    return try Yams.serialize(
      node: mapping([("rosbag2_bagfile_information", information)]), width: -1)
  }

  private static func mapping(_ pairs: [(String, Node)]) -> Node {
    .mapping(.init(pairs.map { (plain($0.0), $0.1) }))
  }

  private static func plain(_ text: String) -> Node { .scalar(.init(text)) }

  private static func quoted(_ text: String) -> Node {
    .scalar(.init(text, .implicit, .singleQuoted))
  }

  private static func number(_ value: UInt64) -> Node { plain(String(value)) }
}
