import Core
import CFFmpeg

/// Reads the display position of each packet of a container from slice headers: H.264 and HEVC
/// state it, independently of the container.
///
/// libavcodec's parser is not used for it: it needs whole packets, believes damaged headers, and says
/// neither which pictures are hidden, nor their `frame_num`, nor where a sequence restarts without a
/// key picture.
struct SliceHeaderReader {
  private var order: any PacketOrder
  /// Size in bytes of the length before each NAL unit; 0 for start codes.
  private var lengthBytes = 0

  private static let mostUnits = 64
  private static let headerBytes = 256
  private static let mostSetBytes = 1 << 14

  /// `nil` for other codecs, and if parameter sets state that display order is decoding order.
  init?(_ parameters: UnsafePointer<AVCodecParameters>) {
    switch parameters.pointee.codec_id {
    case AV_CODEC_ID_H264: order = H264PacketOrder()
    case AV_CODEC_ID_HEVC: order = HEVCOrderCount()
    default: return nil
    }
    guard let data = parameters.pointee.extradata, parameters.pointee.extradata_size > 0 else {
      return
    }
    let extra = [UInt8](
      UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
    readSets(extra)
  }

  /// `false` if display order is the order of the packets.
  var isReordered: Bool { h264?.isReordered ?? true }

  /// The size in the parameter sets of H.264, if they all agree.
  var statedSize: PictureSize? { h264?.statedSize }

  /// The parameter set of H.264 in the container's header; of several the one with the lowest ID.
  var statedSequence: H264Sequence? { h264?.statedSequence }

  private var h264: H264PacketOrder? { order as? H264PacketOrder }

  /// Adds parameter sets that a packet contains for itself and later ones.
  mutating func readSets(from packet: UnsafePointer<AVPacket>) {
    var size = 0
    guard let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0
    else { return }
    readSets([UInt8](UnsafeBufferPointer(start: data, count: size)))
  }

  /// The picture in the next packet; `place` is `nil` if its header is damaged.
  ///
  /// - Parameters:
  ///   - isKey: whether the container marks the picture as key.
  ///   - isBelieved: `false` if the picture is known to be damaged: its header is not read.
  ///   - read: up to `count` bytes from `offset` of the packet on.
  mutating func picture(
    bytes size: Int, isKey: Bool, isBelieved: Bool = true,
    _ read: (_ offset: Int, _ count: Int) -> [UInt8]
  ) -> CodedPicture {
    let picture = isBelieved ? picture(bytes: size, read) : CodedPicture()
    if picture.position == nil { order.skip(isKey: isKey, isBelieved: isBelieved) }
    return picture
  }

  private mutating func picture(
    bytes size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]
  ) -> CodedPicture {
    let head = read(0, min(size, Self.headerBytes))
    func bytes(_ range: Range<Int>) -> [UInt8] {
      range.upperBound <= head.count ? Array(head[range]) : read(range.lowerBound, range.count)
    }
    if lengthBytes == 0 {
      // With start codes, what is after the first bytes is rarely needed.
      let all = size > Self.headerBytes ? read(0, min(size, Self.mostSetBytes)) : head
      for range in NALUnits.ranges(in: all) {
        if let picture = order.add(all[range]) { return picture }
      }
      return CodedPicture()
    }
    var offset = 0
    for _ in 0..<Self.mostUnits {
      guard offset + lengthBytes < size else { break }
      let field = bytes(offset..<(offset + lengthBytes))
      guard field.count == lengthBytes else { break }
      let length = field.reduce(0) { $0 << 8 | Int($1) }
      offset += lengthBytes
      guard length > 0, length <= size - offset else { break }
      let wanted =
        order.isSet(bytes(offset..<(offset + 1)).first ?? 0) ? Self.mostSetBytes : Self.headerBytes
      if let picture = order.add(bytes(offset..<(offset + min(length, wanted)))[...]) {
        return picture
      }
      offset += length
    }
    return CodedPicture()
  }

  /// Reads the configuration record of an MP4 (ISO/IEC 14496-15), or parameter sets with start
  /// codes.
  private mutating func readSets(_ extra: [UInt8]) {
    guard extra.first == 1 else {
      for range in NALUnits.ranges(in: extra) { _ = order.add(extra[range]) }
      return
    }
    let isHEVC = h264 == nil
    guard extra.count > (isHEVC ? 23 : 6) else { return }
    var offset = isHEVC ? 23 : 5
    var groups = isHEVC ? Int(extra[22]) : 2
    lengthBytes = Int(extra[isHEVC ? 21 : 4] & 3) + 1
    while groups > 0 {
      groups -= 1
      var count: Int
      if isHEVC {
        guard offset + 3 <= extra.count else { return }
        count = Int(extra[offset + 1]) << 8 | Int(extra[offset + 2])
        offset += 3
      } else {
        guard offset < extra.count else { return }
        count = Int(extra[offset] & (groups == 1 ? 0x1f : 0xff))
        offset += 1
      }
      while count > 0 {
        count -= 1
        guard offset + 2 <= extra.count else { return }
        let length = Int(extra[offset]) << 8 | Int(extra[offset + 1])
        offset += 2
        guard length > 0, offset + length <= extra.count else { return }
        _ = order.add(extra[offset..<(offset + length)])
        offset += length
      }
    }
  }
}

/// Computes display positions from the units of packets.
protocol PacketOrder {
  /// Whether a unit that begins with this byte is a parameter set.
  func isSet(_ head: UInt8) -> Bool

  /// Adds a unit with its header. Returns the picture's description if the unit is its first slice.
  mutating func add(_ unit: ArraySlice<UInt8>) -> CodedPicture?

  /// A picture without a position. If it is not `isBelieved`, its units were not added.
  mutating func skip(isKey: Bool, isBelieved: Bool)
}

/// Display positions of H.264 pictures with one packet each; a second field in a packet of its own
/// is not a picture.
struct H264PacketOrder: PacketOrder {
  private var sets = H264ParameterSets()
  private var count = H264OrderCount()
  private var openField: H264SliceHeader?
  /// Number of the last reference picture, and of pictures since then whose headers are not
  /// trusted.
  private var lastNumber: Int?
  private var unread = 0

  /// Before the first packet: whether the parameter sets allow a display order other than decoding
  /// order.
  var isReordered: Bool { sets.isReordered }

  var statedSequence: H264Sequence? {
    sets.sequences.min { $0.key < $1.key }?.value
  }

  var statedSize: PictureSize? {
    let sizes = Set(
      sets.sequences.values.map { PictureSize(width: $0.width, height: $0.height) })
    return sizes.count == 1 ? sizes.first : nil
  }

  /// Adds a unit; returns the picture's description if it is a slice.
  mutating func add(_ unit: ArraySlice<UInt8>) -> CodedPicture? {
    guard let type = unit.first.map({ $0 & 0x1f }) else { return nil }
    guard type == 1 || type == 5 else {
      sets.add(unit)
      return nil
    }
    guard let head = H264SliceHeader(unit, sets), let sequence = sets.sequences[head.sequence]
    else {
      unread += 1
      guard type == 5 else { return CodedPicture() }
      (lastNumber, unread) = (0, 0)
      return CodedPicture(position: count.restart())
    }
    if head.isRedundant { return nil }
    guard continues(head, sequence) else {
      // The container's time determines its position.
      unread += 1
      return CodedPicture()
    }
    let position = count.position(head, sequence)
    var picture = CodedPicture(
      position: position, size: PictureSize(width: sequence.width, height: sequence.height))
    picture.isHidden = head.completes(openField)
    openField = head.isField && !picture.isHidden ? head : nil
    return picture
  }

  func isSet(_ head: UInt8) -> Bool { head & 0x1f == 7 || head & 0x1f == 8 }

  /// A picture whose header is not trusted.
  mutating func skip(isKey: Bool, isBelieved: Bool) {
    guard !isBelieved else { return }
    unread += 1
    guard isKey else { return }
    _ = count.restart()
    (lastNumber, unread) = (0, 0)
  }

  /// Whether the picture's number may follow the last one's (`frame_num`, ITU-T H.264, 7.4.3). No
  /// packet of a container gets lost, so that a gap means a damaged header or joined recordings.
  private mutating func continues(_ head: H264SliceHeader, _ sequence: H264Sequence) -> Bool {
    if let lastNumber, !head.startsSequence, !sequence.allowsGaps {
      let range = 1 << sequence.frameNumberBits
      let step = (head.frameNumber - lastNumber + range) % range
      guard step <= 1 + unread else { return false }
    }
    if head.isReference || head.startsSequence {
      lastNumber = head.forgetsAll ? 0 : head.frameNumber
      unread = 0
    }
    return true
  }
}

/// NAL units between start codes.
enum NALUnits {
  /// Ranges of the units, without start codes and the zeros before them.
  static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var starts: [Int] = []
    var index = 0
    while index + 3 < bytes.count {
      if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
        starts.append(index + 3)
        index += 3
      } else {
        index += 1
      }
    }
    return starts.enumerated().map { number, start in
      var end = number + 1 < starts.count ? starts[number + 1] - 3 : bytes.count
      while end > start + 1 && bytes[end - 1] == 0 { end -= 1 }
      return start..<end
    }
  }

  /// Whether a picture of an access unit can be decoded alone: the first slice belongs to an IDR
  /// picture.
  static func beginsWithKey(_ packet: UnsafePointer<AVPacket>) -> Bool {
    guard let data = packet.pointee.data else { return false }
    let size = Int(packet.pointee.size)
    for count in [min(size, 4096), size] {
      let head = [UInt8](UnsafeBufferPointer(start: data, count: count))
      let types = ranges(in: head).map { head[$0.lowerBound] & 0x1f }
      if let slice = types.first(where: { (1...5).contains($0) }) { return slice == 5 }
    }
    return false
  }
}
