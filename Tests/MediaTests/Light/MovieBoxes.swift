/// Adds boxes to movies whose pictures lie before `moov`, so that no offset changes.
enum MovieBoxes {
  struct NotFound: Error {}

  static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    big(payload.count + 8) + Array(type.utf8) + payload
  }

  private static func big(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// The movie with `box` at the end of the description of its first track's samples.
  static func adding(_ box: [UInt8], to movie: [UInt8]) throws -> [UInt8] {
    var movie = movie
    // Type of each box on the way, and the bytes in it before its own boxes.
    let path = [
      ("moov", 0), ("trak", 0), ("mdia", 0), ("minf", 0), ("stbl", 0), ("stsd", 8), ("hvc1", 78),
    ]
    var range = 0..<movie.count
    var sizes: [Int] = []
    for (type, head) in path {
      var at = range.lowerBound
      var found: Range<Int>?
      while at + 8 <= range.upperBound {
        let size = movie[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8 else { break }
        if Array(movie[at + 4..<at + 8]) == Array(type.utf8) {
          found = at + 8 + head..<at + size
          sizes.append(at)
          break
        }
        at += size
      }
      guard let found, found.upperBound <= movie.count else { throw NotFound() }
      range = found
    }
    for at in sizes {
      let size = movie[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      movie.replaceSubrange(at..<at + 4, with: big(size + box.count))
    }
    movie.insert(contentsOf: box, at: range.upperBound)
    return movie
  }
}
