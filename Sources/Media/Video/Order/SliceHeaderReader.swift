import CFFmpeg

/// Reads the display position of each packet of a container from slice headers: H.264 and HEVC
/// state it, independently of the container.
///
/// libavcodec's parser is not used for it: it needs whole packets, believes damaged headers, and says
/// neither which pictures are hidden, nor their `frame_num`, nor where a sequence restarts without a
/// key picture.
struct SliceHeaderReader {
  private enum Codec {
    case h264(H264PacketOrder)
    case hevc(HEVCOrderCount)
  }

  private var codec: Codec
  /// Size in bytes of the length before each NAL unit; 0 for start codes.
  private var lengthBytes = 0

  private static let mostUnits = 64
  private static let headerBytes = 256
  private static let mostSetBytes = 1 << 14

  /// `nil` for other codecs, and if parameter sets state that display order is decoding order.
  init?(_ parameters: UnsafePointer<AVCodecParameters>) {
    switch parameters.pointee.codec_id {
    case AV_CODEC_ID_H264: codec = .h264(H264PacketOrder())
    case AV_CODEC_ID_HEVC: codec = .hevc(HEVCOrderCount())
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
  var isReordered: Bool {
    if case .h264(let order) = codec { order.isReordered } else { true }
  }

  /// The size in the parameter sets of H.264, if they all agree.
  var statedSize: PictureExtent? {
    if case .h264(let order) = codec { order.statedSize } else { nil }
  }

  /// The parameter set of H.264 in the container's header; of several the one with the lowest ID.
  var statedSequence: H264Sequence? {
    if case .h264(let order) = codec { order.statedSequence } else { nil }
  }

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
    switch codec {
    case .h264(var order) where !isBelieved:
      order.skip(isKey: isKey)
      codec = .h264(order)
    case .hevc(var order) where picture.position == nil && isKey:
      order.skipKey()
      codec = .hevc(order)
    case .h264, .hevc: break
    }
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
        if let picture = add(all[range]) { return picture }
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
        isSet(bytes(offset..<(offset + 1)).first ?? 0) ? Self.mostSetBytes : Self.headerBytes
      if let picture = add(bytes(offset..<(offset + min(length, wanted)))[...]) { return picture }
      offset += length
    }
    return CodedPicture()
  }

  private func isSet(_ head: UInt8) -> Bool {
    switch codec {
    case .h264: head & 0x1f == 7 || head & 0x1f == 8
    case .hevc: (33...34).contains(head >> 1 & 0x3f)
    }
  }

  private mutating func add(_ unit: ArraySlice<UInt8>) -> CodedPicture? {
    switch codec {
    case .h264(var order):
      let picture = order.add(unit)
      codec = .h264(order)
      return picture
    case .hevc(var order):
      let picture = order.add(unit)
      codec = .hevc(order)
      return picture
    }
  }

  /// Reads the configuration record of an MP4 (ISO/IEC 14496-15), or parameter sets with start
  /// codes.
  private mutating func readSets(_ extra: [UInt8]) {
    guard extra.first == 1 else {
      for range in NALUnits.ranges(in: extra) { _ = add(extra[range]) }
      return
    }
    var offset: Int
    var groups: Int
    let isHEVC: Bool
    switch codec {
    case .h264:
      guard extra.count > 6 else { return }
      (isHEVC, offset, groups) = (false, 5, 2)
      lengthBytes = Int(extra[4] & 3) + 1
    case .hevc:
      guard extra.count > 23 else { return }
      (isHEVC, offset, groups) = (true, 23, Int(extra[22]))
      lengthBytes = Int(extra[21] & 3) + 1
    }
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
        _ = add(extra[offset..<(offset + length)])
        offset += length
      }
    }
  }
}

/// Display positions of H.264 pictures with one packet each; a second field in a packet of its own
/// is not a picture.
struct H264PacketOrder {
  private var sets = H264ParameterSets()
  private var count = H264OrderCount()
  private var openField: H264SliceHeader?
  /// Number of the last reference picture, and of pictures since then whose headers are not
  /// trusted.
  private var lastNumber: Int?
  private var unread = 0

  /// Before the first packet: whether the parameter sets allow a display order other than decoding
  /// order.
  var isReordered: Bool {
    let sequences = sets.sequences.values
    return sequences.isEmpty || sequences.contains { $0.order != .asDecoded }
  }

  var statedSequence: H264Sequence? {
    sets.sequences.min { $0.key < $1.key }?.value
  }

  var statedSize: PictureExtent? {
    let sizes = Set(
      sets.sequences.values.map { PictureExtent(width: $0.width, height: $0.height) })
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
      skip(isKey: false)
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
      position: position, size: PictureExtent(width: sequence.width, height: sequence.height))
    if head.isField, let first = openField, first.isBottom != head.isBottom,
      first.frameNumber == head.frameNumber, !head.startsSequence || first.startsSequence
    {
      picture.isHidden = true
      openField = nil
    } else {
      openField = head.isField ? head : nil
    }
    return picture
  }

  /// A picture whose header is not trusted.
  mutating func skip(isKey: Bool) {
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
}
