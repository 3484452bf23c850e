/// The top-level atoms of an MP4 or QuickTime file: enough to explain why a file cannot be opened,
/// and whether its index is complete.
struct MovieLayout {
  /// Whether the first atom is one with which such files begin.
  var isMovie = false
  var hasIndex = false
  var isFragmented = false
  /// The first atom whose size extends beyond the end of the file.
  var cutAtom: (type: String, offset: Int64)?
  /// Offset at which the walk ended.
  var end: Int64 = 0

  /// Atoms with which a movie may begin.
  private static let firstTypes: Set<String> = [
    "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot", "styp", "sidx",
  ]

  /// Walks from atom to atom by their sizes; reads 16 bytes of each. Fragmented files have two
  /// atoms per fragment: the walk ends after the first fragment.
  init(_ input: MediaInput) throws(VideoError) {
    while end < input.byteCount && !isFragmented {
      let head = try input.bytes(at: end, count: 16)
      guard head.count >= 8 else { break }
      let type = String(decoding: head[4..<8], as: UTF8.self)
      if end == 0 {
        guard Self.firstTypes.contains(type) else { return }
        isMovie = true
      }
      var size = head[..<4].reduce(0) { $0 << 8 | Int64($1) }
      var smallest: Int64 = 8
      if size == 1 {
        guard head.count == 16, head[8] < 0x80 else { break }
        size = head[8...].reduce(0) { $0 << 8 | Int64($1) }
        smallest = 16
      } else if size == 0 {
        size = input.byteCount - end
      }
      guard size >= smallest else { break }
      switch type {
      case "moov": hasIndex = true
      case "moof": isFragmented = true
      default: break
      }
      guard size <= input.byteCount - end else {
        cutAtom = (type, end)
        end = input.byteCount
        break
      }
      end += size
    }
  }

  /// Why FFmpeg cannot open the movie; `nil` if unknown.
  func explanation(for input: MediaInput) -> VideoError? {
    guard isMovie, !isFragmented else { return nil }
    if let cutAtom, cutAtom.type == "moov" {
      return VideoError(
        file: input.file, what: "the moov atom (the index of the movie) is cut",
        byteOffset: cutAtom.offset, remedy: "copy the file again")
    }
    guard !hasIndex else { return nil }
    return VideoError(
      file: input.file,
      what: "no moov atom: the index is missing, as if the app was killed before closing the file",
      byteOffset: cutAtom?.offset ?? end,
      remedy:
        "if the original is longer, copy it again; otherwise a repair tool may rebuild the index")
  }
}
