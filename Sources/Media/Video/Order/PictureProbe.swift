import CFFmpeg
import SystemPackage

/// Decodes single pictures to tell damaged ones from intact ones.
///
/// A picture is sent to a decoder of its own after the last key picture; complaints about missing
/// reference pictures are ignored. Cost: decoding two pictures per test.
final class PictureProbe {
  private let input: MediaInput
  private let entries: [H264PictureList.Entry]
  private let parameterSets: [[UInt8]]
  private var known: [Int: Bool] = [:]

  /// More bytes than any picture has.
  private static let mostBytes: Int64 = 64 << 20
  /// Number of equal bytes at the start of a picture's content that no encoder writes.
  private static let constantBytes = 32
  private static let longestHeader = 16

  init(_ input: MediaInput, _ list: H264PictureList) {
    self.input = input
    entries = list.entries
    parameterSets = list.parameterSets
  }

  /// Whether the picture of an entry decodes without a complaint about itself.
  func decodes(_ index: Int) -> Bool {
    if let answer = known[index] { return answer }
    let answer = (try? isWhole(index)) ?? false
    known[index] = answer
    return answer
  }

  /// Which of the given packets of a container's track have damaged pictures. Cost: reading the
  /// file up to the last of them, and decoding two pictures for each.
  static func damaged(
    _ wanted: Set<Int>, of track: Int, in file: FilePath, ignoresEditList: Bool
  ) throws(VideoError) -> Set<Int> {
    let reader = try ContainerReader(MediaInput(file), ignoresEditList: ignoresEditList)
    guard let stream = reader.stream(track), let handle = PacketHandle() else { return [] }
    reader.select(track)
    let packet = handle.packet
    var damaged = Set<Int>()
    var left = wanted.count
    var number = -1
    var key: [UInt8] = []
    while left > 0, reader.next(into: packet) {
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == track else { continue }
      number += 1
      let isKey = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
      guard isKey || wanted.contains(number), let data = packet.pointee.data else { continue }
      let bytes = [UInt8](UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
      if wanted.contains(number) {
        left -= 1
        let codec = try CodecHandle(stream: stream, reorderingDelay: 0, file: file, threads: 1)
        let isWhole = try isWhole(bytes, behind: isKey ? [] : key, codec, file)
        if !isWhole || isConstant(bytes) { damaged.insert(number) }
      }
      if isKey { key = bytes }
    }
    return damaged
  }

  private static func isWhole(
    _ unit: [UInt8], behind key: [UInt8], _ codec: CodecHandle, _ file: FilePath
  ) throws(VideoError) -> Bool {
    if !key.isEmpty { _ = try send(key, to: codec, file) }
    let messages = codec.contentMessages
    guard try send(unit, to: codec, file) else { return false }
    _ = avcodec_send_packet(codec.context, nil)
    while avcodec_receive_frame(codec.context, codec.frame) >= 0 {}
    return codec.contentMessages == messages
  }

  private func isWhole(_ index: Int) throws(VideoError) -> Bool {
    guard let unit = try bytes(of: index), !Self.isConstant(unit), let number = entries[index].sets
    else { return false }
    let codec = try CodecHandle(
      parameterSets: parameterSets[number], reorderingDelay: 0, file: input.file, threads: 1)
    var key: [UInt8]?
    if !entries[index].isKey,
      let before = entries[..<index].lastIndex(where: { $0.isKey && $0.offset != nil })
    {
      key = try bytes(of: before)
    }
    return try Self.isWhole(unit, behind: key ?? [], codec, input.file)
  }

  private static func send(
    _ unit: [UInt8], to codec: CodecHandle, _ file: FilePath
  ) throws(VideoError) -> Bool {
    guard av_new_packet(codec.packet, Int32(clamping: unit.count)) >= 0,
      let data = codec.packet.pointee.data
    else { throw VideoError(file: file, what: "no memory for an access unit") }
    data.update(from: unit, count: unit.count)
    defer { av_packet_unref(codec.packet) }
    let status = avcodec_send_packet(codec.context, codec.packet)
    while avcodec_receive_frame(codec.context, codec.frame) >= 0 {}
    return status >= 0
  }

  /// The bytes from a picture's first slice to that of the next, with a start code.
  private func bytes(of index: Int) throws(VideoError) -> [UInt8]? {
    guard let start = entries[index].offset else { return nil }
    let next = entries.dropFirst(index + 1).lazy.compactMap(\.offset).first
    let end = next.map { $0 - 3 } ?? input.byteCount
    guard end > start, end - start <= Self.mostBytes else { return nil }
    return [0, 0, 0, 1] + (try input.bytes(at: start, count: Int(end - start)))
  }

  /// Whether the slice has one constant byte after its header, so it was overwritten. A decoder may
  /// read such bytes as a picture without motion.
  private static func isConstant(_ unit: [UInt8]) -> Bool {
    let content = unit.dropFirst(4 + longestHeader).prefix(constantBytes)
    return content.count == constantBytes && content.allSatisfy { $0 == content.first }
  }
}
