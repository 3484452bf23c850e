import CFFmpeg

/// The packets of a track: their times, and in which order their pictures are shown.
struct PacketTable {
  /// Presentation times of the pictures in decoding order.
  private(set) var values: [Int64] = []
  /// All packets, hidden ones as well.
  private(set) var packetCount = 0
  /// A packet was there in part: no picture can be made of it.
  private(set) var hasCutPacket = false
  private(set) var order: PictureOrder
  private(set) var sizes: PictureSizes

  init(reading reader: ContainerReader, track: Int) throws(VideoError) {
    guard let box = PacketBox() else {
      throw VideoError(file: reader.input.file, what: "no memory for a packet")
    }
    let codec = reader.stream(track)?.pointee.codecpar
    var heads = codec.flatMap { PacketHeads($0) }
    let statedSize = heads?.statedSize
    if let found = heads, !found.isReordered { heads = nil }
    let readsHeads = heads != nil
    var pictures: [CodedPicture] = []
    var hidden: [Int] = []
    var after: Int64 = 0
    let packet = box.packet
    while reader.next(into: packet) {
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == track else { continue }
      packetCount += 1
      if packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 { hasCutPacket = true }
      heads?.readSets(from: packet)
      // Hidden packets have heads, too, on which those of others depend.
      let picture = heads?.picture(bytes: Int(packet.pointee.size)) { offset, count in
        reader.bytes(of: packet, at: offset, count: count)
      }
      guard Self.isPicture(packet) else { continue }
      if picture?.isHidden ?? false { hidden.append(pictures.count) }
      // Without a presentation time the decoding time serves, without both what comes after the last.
      let none = scanmill_nopts()
      let decoding = packet.pointee.dts != none ? packet.pointee.dts : after
      let time = packet.pointee.pts != none ? packet.pointee.pts : decoding
      after = time &+ max(1, packet.pointee.duration)
      values.append(time)
      pictures.append(picture ?? CodedPicture())
    }
    if !hidden.isEmpty {
      let isHidden = Set(hidden)
      let all = values
      values = all.indices.filter { !isHidden.contains($0) }.map { all[$0] }
      pictures = pictures.indices.filter { !isHidden.contains($0) }.map { pictures[$0] }
    }
    sizes = PictureSizes(readsHeads ? pictures.map(\.size) : [statedSize])
    order =
      readsHeads
      ? PictureOrder(places: pictures.map(\.place), ticks: values, hiddenPackets: hidden)
      : PictureOrder(ticks: values, mayReorder: Self.mayReorder(codec))
  }

  /// Whether a decoder makes a picture of the packet that is shown.
  static func isPicture(_ packet: UnsafePointer<AVPacket>) -> Bool {
    packet.pointee.flags & (AV_PKT_FLAG_CORRUPT | AV_PKT_FLAG_DISCARD) == 0
      && packet.pointee.size > 0
  }

  private static func mayReorder(_ codec: UnsafeMutablePointer<AVCodecParameters>?) -> Bool {
    guard let id = codec?.pointee.codec_id, id != AV_CODEC_ID_H264,
      let description = avcodec_descriptor_get(id)
    else { return false }
    return description.pointee.props & AV_CODEC_PROP_REORDER != 0
  }
}
