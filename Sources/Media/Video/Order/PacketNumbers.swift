import CFFmpeg

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
