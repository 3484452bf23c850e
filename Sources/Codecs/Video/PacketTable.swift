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
  /// Which packet each picture lies in, and whether their order was read from their heads.
  private var packets: [Int] = []
  private var isOrderedByHeads = false

  /// - Parameter damaged: numbers of packets whose heads must not be believed.
  init(
    reading reader: ContainerReader, track: Int, damaged: Set<Int> = []
  ) throws(VideoError) {
    guard let box = PacketHandle() else {
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
      let picture = heads?.picture(
        bytes: Int(packet.pointee.size), isKey: packet.pointee.flags & AV_PKT_FLAG_KEY != 0,
        isBelieved: !damaged.contains(packetCount - 1)
      ) { offset, count in
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
      packets.append(packetCount - 1)
      pictures.append(picture ?? CodedPicture())
    }
    if !hidden.isEmpty {
      let isHidden = Set(hidden)
      let all = values
      values = all.indices.filter { !isHidden.contains($0) }.map { all[$0] }
      let numbers = packets
      packets = numbers.indices.filter { !isHidden.contains($0) }.map { numbers[$0] }
      pictures = pictures.indices.filter { !isHidden.contains($0) }.map { pictures[$0] }
    }
    sizes = PictureSizes(readsHeads ? pictures.map(\.size) : [statedSize])
    isOrderedByHeads = readsHeads
    order =
      readsHeads
      ? PictureOrder(places: pictures.map(\.place), ticks: values, hiddenPackets: hidden)
      : PictureOrder(ticks: values, mayReorder: Self.mayReorder(codec))
  }

  /// Packets around which the heads of pictures and the times of the container disagree about the order: one of them
  /// is damaged, or the times are wrong. Empty in almost every movie.
  var doubtfulPackets: Set<Int> {
    guard isOrderedByHeads else { return [] }
    let ranks = (0..<order.count).map(order.rank)
    let shown = ranks.indices.sorted { (values[$0], ranks[$0]) < (values[$1], ranks[$1]) }
    if shown.elementsEqual(ranks.indices.sorted { ranks[$0] < ranks[$1] }) { return [] }
    // Those outside of the longest row in which both agree, and their neighbors.
    let agreeing = Set(Self.longestRise(shown.map { ranks[$0] }).map { shown[$0] })
    let doubtful = ranks.indices.filter { !agreeing.contains($0) }
    guard doubtful.count <= Self.mostDoubtful else { return [] }
    return Set(
      doubtful.flatMap { number in
        packets[max(0, number - Self.neighbors)...min(packets.count - 1, number + Self.neighbors)]
      })
  }

  /// More than so many were not damaged one by one: the times are worth nothing.
  private static let mostDoubtful = 64
  private static let neighbors = 4

  /// Places of a longest rising row of `values`, which are all different.
  private static func longestRise(_ values: [Int]) -> [Int] {
    // For each length the place of the smallest last value, and what comes before each place.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: values.count)
    for (place, value) in values.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[place] = ends[low - 1] }
      if low < ends.count { ends[low] = place } else { ends.append(place) }
    }
    var row: [Int] = []
    var place = ends.last
    while let current = place {
      row.append(current)
      place = before[current]
    }
    return row.reversed()
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
