import CFFmpeg

/// Says of each packet of a track, in decoding order, which picture it holds.
struct PacketNumbers {
  private let order: PictureOrder
  private let isBare: Bool
  /// Containers: packets met that are pictures or hidden ones. Bare streams: pictures begun.
  private var met = 0
  private var hidden = 0
  private var position: Int64 = 0

  init(_ order: PictureOrder, isBare: Bool) {
    self.order = order
    self.isBare = isBare
  }

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
    let first = met
    while met < order.offsets.count, order.offsets[met] < end { met += 1 }
    if met > first { return first }
    return met > 0 ? met - 1 : nil
  }
}
