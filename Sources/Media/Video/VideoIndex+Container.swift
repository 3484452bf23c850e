import CFFmpeg
import SystemPackage

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
  ) throws(VideoError) -> PictureExtent {
    let stated = PictureExtent(
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
    return PictureExtent(width: picture.storedWidth, height: picture.storedHeight)
  }
}
