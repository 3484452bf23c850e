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
    if input.byteCount >= 8 {
      let type = String(decoding: try input.bytes(at: 4, count: 4), as: UTF8.self)
      isMovie = Self.firstTypes.contains(type)
    }
    guard isMovie else { return }
    while !isFragmented, let box = try MovieBox(input, at: end, before: input.byteCount),
      box.statedBytes < .max
    {
      switch box.type {
      case "moov": hasIndex = true
      case "moof": isFragmented = true
      default: break
      }
      if box.statedBytes > input.byteCount - end { cutAtom = (box.type, end) }
      end = box.end
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
