/// Follows the numbers that reference pictures of an H.264 stream bear one after the other
/// (`frame_num`, ITU-T H.264, 7.4.3): what breaks the chain is a damaged head or a lost picture.
struct H264FrameChain {
  /// Heads that break the chain are taken away; pictures that are lost altogether are put in.
  private(set) var entries: [H264PictureList.Entry] = []

  /// More than so many lost at once are no damage but another stream.
  private static let mostLost = 16

  init(_ all: [H264PictureList.Entry]) {
    entries.reserveCapacity(all.count)
    /// Number of the last reference picture; `nil` where the chain begins anew.
    var last: Int?
    /// Pictures without readable head since then.
    var unread = 0
    for (index, found) in all.enumerated() {
      var entry = found
      guard let head = entry.head, let sequence = entry.sequence else {
        if entry.isKey { last = 0 }
        unread = entry.isKey ? 0 : unread + 1
        entries.append(entry)
        continue
      }
      let range = 1 << sequence.frameNumberBits
      if !head.startsSequence, let number = last, !sequence.allowsGaps {
        let step = (head.frameNumber - number + range) % range
        if step > 1 + unread {
          let next = all.dropFirst(index + 1).lazy.compactMap(\.head).first
          let goesOn = next.map { !$0.startsSequence && Self.follows($0, head, range) } ?? false
          let goesOnWithout =
            next.map {
              $0.startsSequence || ($0.frameNumber - number + range) % range <= 2 + unread
            }
            ?? true
          if goesOnWithout || !goesOn {
            entry.head = nil
            unread += 1
            entries.append(entry)
            continue
          }
          let lost = step - 1 - unread
          if lost <= Self.mostLost {
            for _ in 0..<lost {
              entries.append(
                H264PictureList.Entry(head: nil, sequence: nil, isKey: false, offset: nil))
            }
          }
        }
      }
      entries.append(entry)
      if head.isReference || head.startsSequence {
        last = head.forgetsAll ? 0 : head.frameNumber
        unread = 0
      }
    }
  }

  private static func follows(
    _ next: H264SliceHeader, _ head: H264SliceHeader, _ range: Int
  ) -> Bool {
    (next.frameNumber - head.frameNumber + range) % range <= 1
  }
}
