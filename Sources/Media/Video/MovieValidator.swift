import Core

/// Checks the boxes of an MP4 or QuickTime file before FFmpeg reads it. FFmpeg trusts the numbers
/// in them: it allocates tables for the stated number of samples and compares all tracks with each
/// other.
///
/// Every number is compared with the size of its box and of the file; one that is too large is an
/// error with the box's offset. Cost: 16 to 32 bytes read per box, and the time tables.
struct MovieValidator {
  private let input: MediaInput
  private var tracks = 0
  private var boxes = 0
  private var indexBytes: Int64 = 0

  /// Boxes that contain boxes; FFmpeg descends into them wherever they are.
  private static let containers: Set<String> = [
    "moov", "trak", "mdia", "minf", "stbl", "edts", "mvex", "moof", "traf", "udta", "meta", "dinf",
  ]
  /// Boxes of payload, which are skipped.
  private static let payload: Set<String> = ["mdat", "free", "skip", "wide"]

  /// Throws for the first impossible number.
  static func check(_ input: MediaInput) throws(VideoError) {
    var bounds = MovieValidator(input: input)
    try bounds.walk(0..<input.byteCount, depth: 0)
  }

  private mutating func walk(_ range: Range<Int64>, depth: Int) throws(VideoError) {
    try check(depth, InputLimits.depthOfMovieIndex, at: range.lowerBound)
    var offset = range.lowerBound
    while let box = try MovieBox(input, at: offset, before: range.upperBound) {
      if !Self.payload.contains(box.type) {
        boxes += 1
        // The number of fragments is limited only by the size of the file.
        if depth == 0 ? box.type == "moov" : true, !isFragment(box.type) {
          try check(boxes, InputLimits.boxesOfMovieIndex, at: offset)
        }
        try checkBox(box.type, box.content, at: offset, depth)
      }
      offset = box.end
    }
  }

  private func isFragment(_ type: String) -> Bool {
    ["moof", "mfhd", "traf", "tfhd", "tfdt", "trun", "sidx", "styp", "senc", "saiz", "saio"]
      .contains(type)
  }

  private mutating func checkBox(
    _ type: String, _ content: Range<Int64>, at offset: Int64, _ depth: Int
  ) throws(VideoError) {
    switch type {
    case "trak":
      tracks += 1
      try check(tracks, InputLimits.tracksOfMovie, at: offset)
    case "moov":
      indexBytes += Int64(content.count)
      try check(Int(clamping: indexBytes), InputLimits.bytesOfMovieIndex, at: offset)
    case "cmov":
      throw VideoError(
        file: input.file, what: "its index is compressed, which is not supported",
        byteOffset: offset,
        correction: "write the movie again, for instance with ffmpeg -c copy")
    case "stsz": try sampleSizes(content, at: offset)
    case "stts", "ctts": try runs(content, entryBytes: 8, at: offset, type)
    case "stsc": try entries(content, 4, entryBytes: 12, at: offset, type)
    case "stco", "stss", "stps": try entries(content, 4, entryBytes: 4, at: offset, type)
    case "co64": try entries(content, 4, entryBytes: 8, at: offset, type)
    case "elst": try entries(content, 4, entryBytes: 12, at: offset, type)
    case "stz2": try entries(content, 8, entryBytes: 0, at: offset, type)
    case "trun": try entries(content, 4, entryBytes: 0, at: offset, type)
    default: break
    }
    if Self.containers.contains(type) {
      // `meta` has a version before its boxes in MP4, but not in QuickTime.
      try walk(content, depth: depth + 1)
    }
  }

  /// Checks a table whose count is `skipped` bytes after its start and whose entries have the given
  /// size. With size 0 an entry is a sample, which takes at least a byte of the file.
  private func entries(
    _ content: Range<Int64>, _ skipped: Int64, entryBytes: Int64, at offset: Int64, _ type: String
  ) throws(VideoError) {
    let count = try number(at: content.lowerBound + skipped, in: content)
    guard let count else { return }
    try check(Int(count), InputLimits.samplesOfMovie, at: offset)
    let limit =
      entryBytes == 0 ? input.byteCount : (Int64(content.count) - skipped - 4) / entryBytes
    if count > max(limit, 0) { throw tooMany(count, "entries of \(type)", limit, at: offset) }
  }

  private func sampleSizes(_ content: Range<Int64>, at offset: Int64) throws(VideoError) {
    guard let size = try number(at: content.lowerBound + 4, in: content),
      let count = try number(at: content.lowerBound + 8, in: content)
    else { return }
    try check(Int(count), InputLimits.samplesOfMovie, at: offset)
    // One size per sample, or one for all: in that case the samples must fit the file.
    let limit =
      size == 0 ? max(0, Int64(content.count) - 12) / 4 : input.byteCount / max(1, size)
    if count > limit { throw tooMany(count, "samples", limit, at: offset) }
  }

  /// Checks a table of runs, each for a number of samples.
  private func runs(
    _ content: Range<Int64>, entryBytes: Int64, at offset: Int64, _ type: String
  ) throws(VideoError) {
    try entries(content, 4, entryBytes: entryBytes, at: offset, type)
    guard let count = try number(at: content.lowerBound + 4, in: content) else { return }
    var total: Int64 = 0
    var next = content.lowerBound + 8
    var left = count
    while left > 0 {
      let piece = try input.bytes(at: next, count: Int(min(left * entryBytes, 1 << 16)))
      for start in stride(from: 0, to: piece.count - 7, by: Int(entryBytes)) {
        total += MovieBox.number(piece[start..<start + 4])
      }
      let read = Int64(piece.count) / entryBytes
      guard read > 0 else { break }
      next += read * entryBytes
      left -= read
    }
    try check(Int(clamping: total), InputLimits.samplesOfMovie, at: offset)
    // A sample takes at least a byte.
    if total > input.byteCount { throw tooMany(total, "samples", input.byteCount, at: offset) }
  }

  private func check(_ number: Int, _ limit: InputLimit, at offset: Int64) throws(VideoError) {
    guard let problem = limit.problem(number) else { return }
    throw VideoError(file: input.file, what: problem, byteOffset: offset)
  }

  private func tooMany(
    _ count: Int64, _ what: String, _ limit: Int64, at offset: Int64
  ) -> VideoError {
    VideoError(
      file: input.file,
      what: "its index claims \(count) \(what), but its size allows only \(limit)",
      byteOffset: offset, remedy: "copy the file again")
  }

  /// The 32-bit number at `offset`; `nil` if the box ends before it.
  private func number(at offset: Int64, in content: Range<Int64>) throws(VideoError) -> Int64? {
    guard content.upperBound - offset >= 4 else { return nil }
    let bytes = try input.bytes(at: offset, count: 4)
    return bytes.count == 4 ? MovieBox.number(bytes[...]) : nil
  }
}
