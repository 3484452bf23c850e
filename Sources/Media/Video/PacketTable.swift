import Core
import CFFmpeg

/// The packets of a track: their times and the display order of their pictures.
struct PacketTable {
  /// Presentation times of the pictures in decoding order.
  private(set) var values: [Int64] = []
  /// Number of all packets, including hidden ones.
  private(set) var packetCount = 0
  /// Whether a packet is incomplete, so that no picture can be decoded from it.
  private(set) var hasCutPacket = false
  private(set) var order: PictureOrder
  private(set) var sizes: PictureSizes
  /// For each picture the index of its packet, and whether the order was read from slice headers.
  private var packets: [Int] = []
  private var isOrderedBySliceHeaders = false

  /// - Parameter damaged: indices of packets whose slice headers must not be trusted.
  init(
    reading reader: ContainerReader, track: Int, damaged: Set<Int> = []
  ) throws(VideoError) {
    let handle = try PacketHandle(reader.input.file)
    let codec = reader.stream(track)?.pointee.codecpar
    var sliceHeaders = codec.flatMap { SliceHeaderReader($0) }
    let statedSize = sliceHeaders?.statedSize
    if let found = sliceHeaders, !found.isReordered { sliceHeaders = nil }
    let readsSliceHeaders = sliceHeaders != nil
    var pictures: [CodedPicture] = []
    var values: [Int64] = []
    var packets: [Int] = []
    var hidden: [Int] = []
    var after: Int64 = 0
    let packet = handle.packet
    while reader.next(into: packet) {
      defer { av_packet_unref(packet) }
      packetCount += 1
      if packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 { hasCutPacket = true }
      sliceHeaders?.readSets(from: packet)
      // Hidden packets have slice headers, too, on which those of others depend.
      let picture = sliceHeaders?.picture(
        bytes: Int(packet.pointee.size), isKey: packet.pointee.flags & AV_PKT_FLAG_KEY != 0,
        isBelieved: !damaged.contains(packetCount - 1)
      ) { offset, count in
        reader.bytes(of: packet, at: offset, count: count)
      }
      guard Self.isPicture(packet) else { continue }
      if picture?.isHidden ?? false { hidden.append(pictures.count) }
      // Without a presentation time the decoding time is used, without both a time after the last
      // one.
      let none = scanmill_nopts()
      let decoding = packet.pointee.dts != none ? packet.pointee.dts : after
      let time = packet.pointee.pts != none ? packet.pointee.pts : decoding
      after = time &+ max(1, packet.pointee.duration)
      values.append(time)
      packets.append(packetCount - 1)
      pictures.append(picture ?? CodedPicture())
    }
    let isHidden = Set(hidden)
    let shown = pictures.indices.filter { !isHidden.contains($0) }
    (pictures, self.packets) = (shown.map { pictures[$0] }, shown.map { packets[$0] })
    self.values = shown.map { values[$0] }
    sizes = PictureSizes(readsSliceHeaders ? pictures.map(\.size) : [statedSize])
    isOrderedBySliceHeaders = readsSliceHeaders
    order =
      readsSliceHeaders
      ? PictureOrder(positions: pictures.map(\.position), ticks: self.values, hiddenPackets: hidden)
      : PictureOrder(ticks: self.values, mayReorder: Self.mayReorder(codec))
    order.ignoresEditList = reader.ignoresEditList
  }

  /// Packets around which the slice headers and the times of the container disagree about the
  /// order. One of them is damaged, or the times are wrong. Empty for almost every movie.
  var doubtfulPackets: Set<Int> {
    guard isOrderedBySliceHeaders else { return [] }
    let displayIndices = (0..<order.count).map(order.displayIndex)
    let shown = displayIndices.indices.sorted {
      (values[$0], displayIndices[$0]) < (values[$1], displayIndices[$1])
    }
    if shown.elementsEqual(
      displayIndices.indices.sorted { displayIndices[$0] < displayIndices[$1] })
    {
      return []
    }
    // Pictures outside the longest sequence in which both orders agree are doubtful, and so are their neighbors.
    let agreeing = Set(Self.longestRise(shown.map { displayIndices[$0] }).map { shown[$0] })
    let doubtful = displayIndices.indices.filter { !agreeing.contains($0) }
    guard doubtful.count <= Self.mostDoubtful else { return [] }
    return Set(
      doubtful.flatMap { number in
        packets[max(0, number - Self.neighbors)...min(packets.count - 1, number + Self.neighbors)]
      })
  }

  /// With more doubtful packets than this the times are wrong, rather than single packets damaged.
  private static let mostDoubtful = 64
  private static let neighbors = 4

  /// Indices of a longest increasing subsequence of `values`, which are all different.
  private static func longestRise(_ values: [Int]) -> [Int] {
    // For each length the index of the smallest last value, and the predecessor of each index.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: values.count)
    for (index, value) in values.enumerated() {
      let low = ends.partitioningIndex { values[$0] >= value }
      if low > 0 { before[index] = ends[low - 1] }
      if low < ends.count { ends[low] = index } else { ends.append(index) }
    }
    var row: [Int] = []
    var index = ends.last
    while let current = index {
      row.append(current)
      index = before[current]
    }
    return row.reversed()
  }

  /// Whether a decoder outputs a displayed picture for the packet.
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

/// Finds the picture of each packet of a track, in decoding order.
struct PacketNumbers {
  private let order: PictureOrder
  private let isBare: Bool
  /// Containers: number of packets so far that are pictures or hidden ones. Bare streams: number of
  /// pictures begun.
  private var met = 0
  private var hidden = 0
  private var position: Int64 = 0
  private var current: Int?

  init(_ order: PictureOrder, isBare: Bool) {
    self.order = order
    self.isBare = isBare
  }

  /// Whether the last packet contained the beginnings of several pictures, all but the first
  /// damaged.
  private(set) var holdsSeveral = false

  /// Decoding index of the picture in the next packet; `nil` if it has none.
  mutating func picture(of packet: UnsafePointer<AVPacket>) -> Int? {
    isBare ? picture(inBare: packet) : picture(inContainer: packet)
  }

  private mutating func picture(inContainer packet: UnsafePointer<AVPacket>) -> Int? {
    guard PacketTable.isPicture(packet) else { return nil }
    defer { met += 1 }
    guard !order.hiddenPackets.contains(met) else {
      hidden += 1
      return nil
    }
    let picture = met - hidden
    return picture < order.count ? picture : nil
  }

  /// Packets of a bare stream are contiguous. One without the beginning of a picture continues the
  /// previous picture: it is its second field.
  private mutating func picture(inBare packet: UnsafePointer<AVPacket>) -> Int? {
    let end = position + Int64(packet.pointee.size)
    defer { position = end }
    var first: Int?
    holdsSeveral = false
    while met < order.offsets.count, order.offsets[met] < end {
      if order.offsets[met] >= 0 {
        holdsSeveral = first != nil
        first = first ?? met
        current = met
      }
      met += 1
    }
    return first ?? current
  }
}
