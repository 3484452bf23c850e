import CFFmpeg

/// Says of each packet of a track, in decoding order, which picture it holds.
struct PacketNumbers {
  private let order: PictureOrder
  private let isBare: Bool
  /// Containers: packets met that are pictures or hidden ones. Bare streams: pictures begun.
  private var met = 0
  private var hidden = 0
  private var position: Int64 = 0
  private var current: Int?

  init(_ order: PictureOrder, isBare: Bool) {
    self.order = order
    self.isBare = isBare
  }

  /// The last packet held the beginnings of several pictures, of which all but the first are damaged.
  private(set) var holdsSeveral = false

  /// The picture that the next packet holds; `nil` for one that holds none.
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

  /// Packets of a bare stream follow each other without a gap. What holds no beginning of a picture goes on
  /// with the one before: its second field.
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
