import Core
import CFFmpeg
import SystemPackage

/// The possible forms of a video file.
public enum VideoContainer: Hashable, Sendable {
  /// Detected by the first bytes, never by the name: MP4, QuickTime, Matroska, a bare H.264 stream.
  case any
  /// A bare H.264 stream with start codes, without detection.
  case annexB

  /// The encoding that descriptions state for a bare H.264 stream; other encodings are FFmpeg's names.
  public static let annexBEncoding = "h264-annexb"

  /// The form of a video whose description states `encoding`.
  public init(ofEncoding encoding: String?) {
    self = encoding == Self.annexBEncoding ? .annexB : .any
  }
}

/// The content of a video file, counted without decoding.
public struct VideoIndex: Hashable, Sendable {
  public var tracks: [VideoTrack]
  /// Whether the file ends before its own index says; only what exists is listed.
  public var endsEarly: Bool

  /// Reads the index of `file`.
  ///
  /// Cost: for MP4 and QuickTime the index alone; fragmented files and Matroska are read
  /// completely, and bare streams are scanned for start codes at memory speed, with pictures
  /// decoded where picture numbers skip. Memory: eight bytes per picture.
  /// - Parameters:
  ///   - statedCounts: picture counts from other sources (metadata, tables of times). If
  ///     the units of a bare stream agree with one of them, no picture is taken as lost, whatever
  ///     the picture numbers say.
  ///   - ignoresEditList: whether pictures that an edit list hides count as well, as with `ffmpeg
  ///     -ignore_editlist 1`. Whatever decodes by the `order` of such a track ignores the list, too.
  /// - Throws: `VideoError` for a file without index (no moov atom), without a video track, or of
  ///   another kind.
  public static func read(
    _ file: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = [],
    ignoresEditList: Bool = false
  ) throws(VideoError) -> VideoIndex {
    let input = try MediaInput(file)
    if try AnnexBReader.isAnnexB(input, container) {
      return try readAnnexB(input, statedCounts: statedCounts)
    }
    return try readContainer(input, ignoresEditList: ignoresEditList)
  }
}

/// One video track of a file.
public struct VideoTrack: Hashable, Sendable {
  /// The track's index among all tracks of the file, by which a decoder finds it.
  public var number: Int
  /// FFmpeg's name of the codec, such as `h264` or `hevc`; `h264-annexb` for a bare stream.
  public var encoding: String
  /// Size of the stored pictures, before any turn.
  public var storedWidth: Int
  public var storedHeight: Int
  public var orientation: VideoOrientation
  public var timeBase: VideoTimeBase
  /// Number of displayed pictures in the file, without those that an edit list hides.
  public var pictureCount: Int
  /// Presentation times of the pictures in the order in which the decoder outputs them, in ticks of
  /// `timeBase`. May go back in damaged or unusual files. Empty for a bare stream, which has no
  /// times.
  public var presentationTicks: [Int64]
  /// The tick at which the movie begins: 0, or, if the edit list is ignored, where that says. A
  /// container that states no beginning begins with its first picture.
  public var startTicks: Int64 = 0
  /// Maps decoding order to display order.
  public var order: PictureOrder
  /// Number of pictures in the file's index if the file ends before them; `nil` for a complete
  /// file, and without an index.
  public var listedPictures: Int?
  /// Number of pictures whose headers state another size than the first one's.
  public var picturesOfOtherSize = 0
  /// The color description.
  public var color = VideoColor()
  /// What an edit list hides.
  public var hidden = HiddenPictures()

  /// Number of steps between pictures at which time goes back.
  public var backwardSteps: Int {
    zip(presentationTicks, presentationTicks.dropFirst()).count { $0 > $1 }
  }

  /// Width of the pictures after the turn.
  public var uprightWidth: Int { orientation.swapsSides ? storedHeight : storedWidth }
  public var uprightHeight: Int { orientation.swapsSides ? storedWidth : storedHeight }
}

/// Pictures of a track that its edit list hides, so that players do not display them.
public struct HiddenPictures: Hashable, Sendable {
  /// Number of hidden pictures that would be displayed before the first visible one.
  public var before = 0
  public var after = 0
  /// Time from the first picture to the first visible one, on the video's clock.
  public var nanoseconds: Int64 = 0

  public init() {}
}

extension VideoIndex {
  /// Reads a bare H.264 stream: counts its pictures and orders them by their slice headers.
  static func readAnnexB(
    _ input: MediaInput, statedCounts: Set<Int>
  ) throws(VideoError) -> VideoIndex {
    var list = H264PictureList()
    var units = 0
    try AnnexBReader.forEachUnit(input, headerBytes: H264PictureList.headerBytes) { offset, unit in
      units += 1
      list.add(unit, at: offset)
    }
    guard units > 0 else {
      throw VideoError(
        file: input.file, what: "no start code of an H.264 stream", byteOffset: 0,
        remedy: "check that it is a bare stream and not empty")
    }
    let probe = PictureProbe(input, list)
    let (pictures, offsets, isReordered) = list.pictures(
      stated: statedCounts, decodes: probe.decodes)
    let order = PictureOrder(
      positions: pictures.map(\.position), offsets: offsets, isReordered: isReordered)
    let sizes = PictureSizes(order.sorted(pictures.map(\.size)))
    return VideoIndex(
      tracks: [
        VideoTrack(
          number: 0, encoding: VideoContainer.annexBEncoding, storedWidth: sizes.first?.width ?? 0,
          storedHeight: sizes.first?.height ?? 0, orientation: .upright,
          timeBase: VideoTimeBase(denominator: 1), pictureCount: order.count,
          presentationTicks: [], order: order, picturesOfOtherSize: sizes.others,
          color: list.firstSequence.map { VideoColor($0) } ?? VideoColor())
      ], endsEarly: false)
  }
}

/// The picture sizes in the headers of a track.
struct PictureSizes {
  /// Size of the first picture with a known size.
  private(set) var first: PictureSize?
  /// Number of pictures of another size than the first.
  private(set) var others = 0

  init(_ sizes: [PictureSize?]) {
    first = sizes.lazy.compactMap(\.self).first
    others = sizes.count { $0 != nil && $0 != first }
  }
}

extension VideoIndex {
  /// Reads every video track of a container, each in a pass of its own, so that damage of one does
  /// not shorten another.
  static func readContainer(
    _ input: MediaInput, ignoresEditList: Bool
  ) throws(VideoError) -> VideoIndex {
    var reader = try ContainerReader(input, ignoresEditList: ignoresEditList)
    let numbers = reader.videoTracks
    guard !numbers.isEmpty else {
      throw VideoError(file: input.file, what: "it has no video track")
    }
    let boxes = reader.layout.isMovie ? try MovieTracks(input) : nil
    var index = VideoIndex(tracks: [], endsEarly: false)
    for (pass, number) in numbers.enumerated() {
      if pass > 0 {
        reader = try ContainerReader(MediaInput(input.file), ignoresEditList: ignoresEditList)
      }
      guard let stream = reader.stream(number), let codec = stream.pointee.codecpar else {
        continue
      }
      reader.select(number)
      reader.skipPayload()
      let ticks = try table(of: number, in: reader)
      let size = try Self.size(of: ticks, codec, number, in: reader)
      let declared = Int(avformat_index_get_entries_count(stream))
      let isIndexWhole = reader.layout.isMovie && !reader.layout.isFragmented
      let endsEarly = ticks.hasCutPacket || (isIndexWhole && ticks.packetCount < declared)
      if endsEarly { index.endsEarly = true }
      var color = try VideoColor(of: stream, number: number, in: input)
      let id = Int(stream.pointee.id)
      if color.transfer == nil, boxes?.isAppleLog(track: id) ?? false {
        color.transfer = VideoColor.appleLog
      }
      color.takeSideData(of: stream)
      let shown = ticks.order.count
      var track = VideoTrack(
        number: number, encoding: String(cString: avcodec_get_name(codec.pointee.codec_id)),
        storedWidth: size.width, storedHeight: size.height,
        orientation: VideoOrientation(of: stream),
        timeBase: VideoTimeBase(
          numerator: Int64(stream.pointee.time_base.num),
          denominator: Int64(stream.pointee.time_base.den)),
        pictureCount: shown, presentationTicks: ticks.order.sorted(ticks.values),
        order: ticks.order,
        listedPictures: endsEarly && isIndexWhole
          ? shown + max(0, declared - ticks.packetCount) : nil,
        picturesOfOtherSize: ticks.sizes.others, color: color,
        hidden: ignoresEditList
          ? HiddenPictures()
          : try boxes?.hidden(track: id, shown: shown) ?? HiddenPictures())
      let first = track.presentationTicks.min() ?? 0
      track.startTicks = boxes?.start(track: id).map { ignoresEditList ? $0 : 0 } ?? first
      index.tracks.append(track)
    }
    if index.tracks.allSatisfy({ $0.pictureCount == 0 }),
      let why = reader.layout.explanation(for: input)
    {
      throw why
    }
    return index
  }

  /// The packets of a track. Where slice headers and times disagree about the order, the doubtful
  /// pictures are decoded. Headers of damaged pictures are not used; those pictures are ordered by
  /// time.
  private static func table(
    of track: Int, in reader: ContainerReader
  ) throws(VideoError) -> PacketTable {
    var table = try PacketTable(reading: reader, track: track)
    var damaged = Set<Int>()
    var asked = Set<Int>()
    for _ in 0..<8 {
      let doubtful = table.doubtfulPackets.subtracting(asked)
      guard !doubtful.isEmpty else { break }
      asked.formUnion(doubtful)
      let found = try PictureProbe.damaged(
        doubtful, of: track, in: reader.input.file, ignoresEditList: reader.ignoresEditList)
      guard !found.isEmpty else { break }
      damaged.formUnion(found)
      let rereader = try ContainerReader(
        MediaInput(reader.input.file), ignoresEditList: reader.ignoresEditList)
      rereader.select(track)
      rereader.skipPayload()
      table = try PacketTable(reading: rereader, track: track, damaged: damaged)
    }
    return table
  }

  /// The size of decoded pictures: that of their headers, cropped within the last block as the
  /// container states (the decoder does so, too), or that of the decoder if neither states one.
  private static func size(
    of table: PacketTable, _ codec: UnsafePointer<AVCodecParameters>, _ track: Int,
    in reader: ContainerReader
  ) throws(VideoError) -> PictureSize {
    let stated = PictureSize(
      width: Int(codec.pointee.width), height: Int(codec.pointee.height))
    if let coded = table.sizes.first {
      let isCropped =
        codec.pointee.codec_id == AV_CODEC_ID_H264 && stated.width > 0 && stated.height > 0
        && stated.width <= coded.width && stated.height <= coded.height
        && (stated.width + 15) / 16 == (coded.width + 15) / 16
        && (stated.height + 15) / 16 == (coded.height + 15) / 16
      return isCropped ? stated : coded
    }
    if stated.width > 0, stated.height > 0 { return stated }
    guard table.order.count > 0 else { return stated }
    // The container does not state it (MPEG-4 part 2, H.263).
    // The stored size is asked for.
    let decoder = try VideoDecoder(
      reader.input.file, track: track, order: table.order, orientation: .upright)
    guard let picture = try? decoder.next() else { return stated }
    return PictureSize(width: picture.storedWidth, height: picture.storedHeight)
  }
}

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
    guard let stream = reader.stream(track) else { return [] }
    let handle = try PacketHandle(file)
    reader.select(track)
    let packet = handle.packet
    var damaged = Set<Int>()
    var left = wanted.count
    var number = -1
    var key: [UInt8] = []
    while left > 0, reader.next(into: packet) {
      defer { av_packet_unref(packet) }
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
