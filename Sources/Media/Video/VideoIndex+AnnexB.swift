extension VideoIndex {
  /// Reads a bare H.264 stream: counts its pictures and orders them by their slice headers.
  static func readAnnexB(
    _ input: MediaInput, statedCounts: Set<Int>
  ) throws(VideoError) -> VideoIndex {
    var list = H264PictureList()
    var units = 0
    try AnnexBScanner.forEachUnit(input, headerBytes: H264PictureList.headerBytes) { offset, unit in
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
  private(set) var first: PictureExtent?
  /// Number of pictures of another size than the first.
  private(set) var others = 0

  init(_ sizes: [PictureExtent?]) {
    first = sizes.lazy.compactMap(\.self).first
    others = sizes.count { $0 != nil && $0 != first }
  }
}
