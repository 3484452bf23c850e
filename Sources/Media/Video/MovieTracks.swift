import Core

/// What the boxes of an MP4 or QuickTime file state about its tracks and libavformat does not
/// report: how much an edit list hides, and a transfer function without a number.
///
/// For files that `MovieValidator` has checked. Cost: 16 bytes per box, and the time tables of
/// tracks with an edit list that begins late.
struct MovieTracks {
  private struct Track {
    var id: Int64?
    var ticksPerSecond: Int64 = 0
    /// Where the first edit with content begins, on the track's own clock.
    var editStart: Int64?
    /// How long empty edits before it last, on the movie's clock.
    var emptyTicks: Int64 = 0
    var durations: Range<Int64>?
    var offsets: Range<Int64>?
    var isAppleLog = false
  }

  private let input: MediaInput
  private var tracks: [Track] = []
  private var isAppleLog = false
  private var movieTicksPerSecond: Int64 = 0

  /// Apple's name of its logarithmic transfer function; those of others begin with it.
  private static let logName = Array("com.apple.log".utf8)
  /// Limit in bytes on descriptions and notes, which are small.
  private static let mostText = 1 << 18
  private static let mostBoxes = 4096

  init(_ input: MediaInput) throws(VideoError) {
    self.input = input
    for box in try boxes(0..<input.byteCount) where box.type == "moov" {
      for inner in try boxes(box.content) {
        switch inner.type {
        case "mvhd":
          let isLong = try number(at: inner.content.lowerBound, 1) == 1
          movieTicksPerSecond = try number(at: inner.content.lowerBound + (isLong ? 20 : 12), 4)
        case "trak": tracks.append(try track(inner.content))
        case "meta", "udta": if try holdsLogName(inner.content) { isAppleLog = true }
        default: break
        }
      }
    }
  }

  /// Whether the file states that a track has Apple's logarithmic transfer.
  func isAppleLog(track id: Int) -> Bool {
    isAppleLog || tracks.contains { $0.id == Int64(id) && $0.isAppleLog }
  }

  /// The tick of a track's own clock at which the movie begins; `nil` without an edit list.
  func start(track id: Int) -> Int64? {
    guard let track = tracks.first(where: { $0.id == Int64(id) }), let start = track.editStart
    else { return nil }
    guard track.emptyTicks > 0, movieTicksPerSecond > 0 else { return start }
    let empty =
      Double(track.emptyTicks) * Double(track.ticksPerSecond) / Double(movieTicksPerSecond)
    return Int64(exactly: empty.rounded()).map { start &- $0 }
  }

  /// What the edit list hides of a track with `shown` displayed pictures.
  func hidden(track id: Int, shown: Int) throws(VideoError) -> HiddenPictures {
    var hidden = HiddenPictures()
    guard let track = tracks.first(where: { $0.id == Int64(id) }), let start = track.editStart,
      start > 0, let durations = track.durations, track.ticksPerSecond > 0
    else { return hidden }
    var first = Int64.max
    var firstShown = Int64.max
    var total = 0
    var time: Int64 = 0
    var offsets = try runs(track.offsets ?? 0..<0)[...]
    for run in try runs(durations) {
      for _ in 0..<run.count {
        while let next = offsets.first, next.count == 0 { offsets.removeFirst() }
        let offset = offsets.first.map { Int64(Int32(truncatingIfNeeded: $0.value)) } ?? 0
        if !offsets.isEmpty { offsets[offsets.startIndex].count -= 1 }
        let shownAt = time &+ offset
        first = min(first, shownAt)
        if shownAt < start {
          hidden.before += 1
        } else {
          firstShown = min(firstShown, shownAt)
        }
        total += 1
        time &+= run.value
      }
    }
    hidden.before = min(hidden.before, max(0, total - shown))
    hidden.after = max(0, total - shown - hidden.before)
    if hidden.before > 0, firstShown < .max {
      hidden.nanoseconds =
        VideoTimeBase(denominator: track.ticksPerSecond).nanoseconds(ofTicks: firstShown &- first)
        ?? 0
    }
    return hidden
  }

  private func track(_ content: Range<Int64>) throws(VideoError) -> Track {
    var track = Track()
    try readBox(content, into: &track, depth: 0)
    return track
  }

  private func readBox(
    _ content: Range<Int64>, into track: inout Track, depth: Int
  ) throws(VideoError) {
    guard depth < 6 else { return }
    for box in try boxes(content) {
      let start = box.content.lowerBound
      switch box.type {
      case "mdia", "minf", "stbl", "edts": try readBox(box.content, into: &track, depth: depth + 1)
      case "tkhd":
        let isLong = try number(at: start, 1) == 1
        track.id = try number(at: start + (isLong ? 20 : 12), 4)
      case "mdhd":
        let isLong = try number(at: start, 1) == 1
        track.ticksPerSecond = try number(at: start + (isLong ? 20 : 12), 4)
      case "elst": try readEdits(box.content, into: &track)
      case "stts": track.durations = box.content
      case "ctts": track.offsets = box.content
      case "stsd", "meta", "udta": if try holdsLogName(box.content) { track.isAppleLog = true }
      default: break
      }
    }
  }

  /// Reads the edits up to the first one that is not empty.
  private func readEdits(_ content: Range<Int64>, into track: inout Track) throws(VideoError) {
    let isLong = try number(at: content.lowerBound, 1) == 1
    let count = try number(at: content.lowerBound + 4, 4)
    let entry: Int64 = isLong ? 20 : 12
    for index in 0..<min(count, 64) {
      let offset = content.lowerBound + 8 + index * entry
      guard offset + entry <= content.upperBound else { break }
      let time =
        isLong
        ? try number(at: offset + 8, 8)
        : Int64(Int32(truncatingIfNeeded: try number(at: offset + 4, 4)))
      if time >= 0 {
        track.editStart = time
        return
      }
      track.emptyTicks &+= try number(at: offset, isLong ? 8 : 4)
    }
  }

  /// Reads entries of two 32-bit numbers: a number of samples and a value.
  private func runs(_ content: Range<Int64>) throws(VideoError) -> [(count: Int64, value: Int64)] {
    guard content.count >= 8 else { return [] }
    let bytes = try input.bytes(
      at: content.lowerBound + 4,
      count: min(content.count - 4, 4 + 8 * InputLimits.samplesOfMovie.most))
    let count = min(Self.number(bytes.prefix(4)), Int64((bytes.count - 4) / 8))
    return (0..<Int(max(0, count))).map { index in
      let offset = 4 + 8 * index
      return (Self.number(bytes[offset..<offset + 4]), Self.number(bytes[offset + 4..<offset + 8]))
    }
  }

  private func holdsLogName(_ content: Range<Int64>) throws(VideoError) -> Bool {
    let bytes = try input.bytes(
      at: content.lowerBound, count: min(content.count, Self.mostText))
    guard bytes.count >= Self.logName.count else { return false }
    return bytes.indices.dropLast(Self.logName.count - 1).contains {
      bytes[$0] == Self.logName[0]
        && bytes[$0..<$0 + Self.logName.count].elementsEqual(Self.logName)
    }
  }

  private func boxes(_ range: Range<Int64>) throws(VideoError) -> [MovieBox] {
    var found: [MovieBox] = []
    var offset = range.lowerBound
    while found.count < Self.mostBoxes,
      let box = try MovieBox(input, at: offset, before: range.upperBound)
    {
      found.append(box)
      offset = box.end
    }
    return found
  }

  private func number(at offset: Int64, _ count: Int) throws(VideoError) -> Int64 {
    Self.number(try input.bytes(at: offset, count: count)[...])
  }

  /// Reads a big-endian number.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}

/// A box (QuickTime: atom) of a movie: the one reader of their heads.
struct MovieBox {
  /// Four characters.
  let type: String
  /// Where it begins in the file.
  let offset: Int64
  /// Size in bytes as the box's head states it, which may reach beyond its end.
  let statedBytes: Int64
  /// What follows the head, up to the end of the box or of what holds it.
  let content: Range<Int64>
  /// Where the next one begins.
  let end: Int64

  /// The box at `offset`; `nil` where none can begin: fewer than 8 bytes before `limit`, or a size below that of its
  /// head.
  ///
  /// Cost: 16 bytes read.
  init?(_ input: MediaInput, at offset: Int64, before limit: Int64) throws(VideoError) {
    guard limit - offset >= 8 else { return nil }
    let head = try input.bytes(at: offset, count: 16)
    guard head.count >= 8 else { return nil }
    var size = Self.number(head[..<4])
    var start: Int64 = 8
    if size == 1, head.count == 16 {
      size = Self.number(head[8...])
      start = 16
    } else if size == 0 {
      size = limit - offset
    }
    guard size >= start else { return nil }
    type = String(decoding: head[4..<8], as: UTF8.self)
    self.offset = offset
    statedBytes = size
    end = offset + min(size, limit - offset)
    content = offset + start..<max(end, offset + start)
  }

  /// A big-endian number, limited to the range of `Int64`.
  static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(clamping: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
