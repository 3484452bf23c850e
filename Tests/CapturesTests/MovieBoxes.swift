/// Moves the parts of an MP4 or QuickTime file, as a recorder or an editor might have written them.
struct MovieBoxes {
  private var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The movie with its index in front, so that a copy that breaks off has it.
  ///
  /// - Parameter tracks: 2: the video track is listed twice.
  func indexFirst(tracks: Int = 1) -> [UInt8]? {
    let top = Self.boxes(bytes[...])
    guard let moov = top.first(where: { $0.type == "moov" }), let first = top.first,
      first.type == "ftyp"
    else { return nil }
    var index = Array(bytes[moov.range])
    if tracks == 2 {
      let tracks = Self.boxes(index[8...]).filter { $0.type == "trak" }
      guard
        let video = tracks.first(where: { Self.find("vide", in: index[$0.range]) != nil }),
        let head = Self.find("tkhd", in: index[video.range])
      else { return nil }
      var copy = Array(index[video.range])
      // Version and flags, then two times of 4 bytes, or of 8 in version 1.
      let id = head - video.range.lowerBound + 4 + 4 + (index[head + 4] == 1 ? 16 : 8)
      copy.replaceSubrange(id..<id + 4, with: [0, 0, 0, 99])
      index += copy
      Self.put(index.count, at: 0, in: &index)
    }
    let isBehind = top.contains { $0.type == "mdat" && $0.range.lowerBound < moov.range.lowerBound }
    let shift = index.count - (isBehind ? 0 : moov.range.count)
    var from = index.startIndex
    while let table = Self.find("stco", in: index[from...]) {
      let count = Self.number(index, at: table + 8)
      for entry in 0..<count {
        let place = table + 12 + 4 * entry
        Self.put(Self.number(index, at: place) + shift, at: place, in: &index)
      }
      from = table + 4
    }
    return Array(bytes[first.range]) + index
      + top.dropFirst().filter { $0.type != "moov" }.flatMap { bytes[$0.range] }
  }

  /// The movie with another display matrix: the numbers that make x and y of x, then those of y.
  func turned(_ matrix: [Int]) -> [UInt8]? {
    guard let head = Self.find("tkhd", in: bytes[...]) else { return nil }
    var turned = bytes
    let place = head + (bytes[head + 4] == 1 ? 56 : 44)
    for (index, number) in zip([0, 1, 3, 4], matrix) {
      Self.put(number << 16, at: place + 4 * index, in: &turned)
    }
    return turned
  }

  private typealias Box = (type: String, range: Range<Int>)

  private static func boxes(_ bytes: ArraySlice<UInt8>) -> [Box] {
    var boxes: [Box] = []
    var start = bytes.startIndex
    let all = Array(bytes)
    while start + 8 <= bytes.endIndex {
      let at = start - bytes.startIndex
      var size = number(all, at: at)
      if size == 1 { size = number(all, at: at + 12) }
      guard size >= 8, start + size <= bytes.endIndex else { break }
      let type = String(decoding: all[at + 4..<at + 8], as: UTF8.self)
      boxes.append((type, start..<start + size))
      start += size
    }
    return boxes
  }

  /// Where four characters stand.
  private static func find(_ type: String, in bytes: ArraySlice<UInt8>) -> Int? {
    let wanted = Array(type.utf8)
    return bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(wanted) }
  }

  private static func number(_ bytes: [UInt8], at place: Int) -> Int {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func put(_ number: Int, at place: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 {
      bytes[place + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
    }
  }
}
