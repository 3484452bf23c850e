/// Follows the numbers that reference pictures of an H.264 stream bear one after the other
/// (`frame_num`, ITU-T H.264, 7.4.3): what breaks the chain is a damaged head or a lost picture.
///
/// Numbers are four bits in many streams, and the head of a destroyed picture may read like any other. So a
/// leap is believed only where the pictures on both sides of it decode.
struct H264FrameChain {
  /// Heads that break the chain are taken away; pictures that are lost altogether are put in.
  private(set) var entries: [H264PictureList.Entry] = []
  /// How many were put in.
  private(set) var lostPictures = 0

  /// More than so many lost at once are no damage but another stream.
  private static let mostLost = 16
  /// As many are believed to be lost where no picture follows that confirms it.
  private static let mostUnconfirmed = 2
  /// How far behind a leap a whole picture is looked for.
  private static let mostAhead = 32

  private let all: [H264PictureList.Entry]
  private let decodes: (Int) -> Bool
  /// Pictures whose heads cannot be believed.
  private var unbelieved = Set<Int>()
  /// How many pictures are lost before a picture.
  private var lost: [Int: Int] = [:]
  /// Before which pictures the first of those that are lost is a key picture.
  private var lostKeys = Set<Int>()

  /// - Parameters:
  ///   - all: the pictures and fields as their units tell of them, in decoding order.
  ///   - putsIn: whether lost pictures are put in at all.
  ///   - decodes: whether the picture at a place of `all` decodes without a complaint about itself. Asked only
  ///     where numbers leap.
  init(
    _ all: [H264PictureList.Entry], putsIn: Bool = true, decodes: @escaping (Int) -> Bool
  ) {
    self.all = all
    self.decodes = decodes
    var index = 0
    var state = State()
    /// Where the numbers began anew, and what was known before.
    var start = (index: 0, state: State())
    while index < all.count {
      if all[index].head?.startsSequence ?? all[index].isKey { start = (index, state) }
      switch read(index, &state) {
      case .goesOn: index += 1
      case .again: (index, state) = start
      }
    }
    entries.reserveCapacity(all.count)
    for (index, found) in all.enumerated() {
      let count = putsIn ? lost[index] ?? 0 : 0
      lostPictures += count
      for number in 0..<count {
        entries.append(.lost(isKey: number == 0 && lostKeys.contains(index)))
      }
      var entry = found
      if unbelieved.contains(index) { entry.head = nil }
      entries.append(entry)
    }
  }

  private struct State {
    /// Number of the last reference picture; `nil` where the chain begins anew.
    var last: Int?
    /// Pictures without believed head since then.
    var unread = 0
    /// Pictures with believed heads since the numbers began anew.
    var read: [Int] = []
  }

  private enum Step {
    case goesOn
    /// An earlier head turned out to be damaged: once more from where the numbers begin.
    case again
  }

  private mutating func read(_ index: Int, _ state: inout State) -> Step {
    let entry = all[index]
    lost[index] = nil
    lostKeys.remove(index)
    guard let head = entry.head, let sequence = entry.sequence, !unbelieved.contains(index) else {
      if entry.isKey { state = State(last: 0) } else { state.unread += 1 }
      return .goesOn
    }
    if head.startsSequence { state = State() }
    let range = 1 << sequence.frameNumberBits
    if let number = state.last, !sequence.allowsGaps {
      let step = (head.frameNumber - number + range) % range
      if step > 1 + state.unread {
        let count = step - 1 - state.unread
        let isWhole = decodes(index)
        if isWhole, doubt(state.read) { return .again }
        guard isWhole,
          goesOn(from: index, head, after: number, state.unread, range)
            ?? (count <= Self.mostUnconfirmed)
        else {
          unbelieved.insert(index)
          state.unread += 1
          return .goesOn
        }
        // Numbers that begin anew with a key picture that is lost explain more with less.
        let sinceKey = max(0, head.frameNumber - state.unread)
        if 2 * sinceKey < count {
          lost[index] = sinceKey
          if sinceKey > 0 { lostKeys.insert(index) }
        } else if count <= Self.mostLost {
          lost[index] = count
        }
        // What it refers to is lost, and counted.
        state.last = (head.frameNumber - 1 + range) % range
        state.unread = 0
      }
    }
    state.read.append(index)
    if head.isReference || head.startsSequence {
      state.last = head.forgetsAll ? 0 : head.frameNumber
      state.unread = 0
    }
    return .goesOn
  }

  /// Looks at pictures before a leap, back to the last reference picture that is whole; whether one of them is
  /// damaged, so that its head must not be believed.
  private mutating func doubt(_ read: [Int]) -> Bool {
    var isNew = false
    for index in read.reversed() {
      if decodes(index) {
        if all[index].head?.isReference ?? false { break }
      } else {
        unbelieved.insert(index)
        isNew = true
      }
    }
    return isNew
  }

  /// Whether the pictures behind a leap go on from the number that it leads to, not from the one before it;
  /// `nil` where none of the sequence follows.
  private func goesOn(
    from index: Int, _ head: H264SliceHeader, after number: Int, _ unread: Int, _ range: Int
  ) -> Bool? {
    let ahead = all.indices.dropFirst(index + 1).prefix(Self.mostAhead)
    guard let next = ahead.first(where: { all[$0].head != nil && decodes($0) }),
      let after = all[next].head, !after.startsSequence
    else { return nil }
    let between = next - index - 1
    let without = (after.frameNumber - number + range) % range
    if without > 0, without <= 2 + unread + between { return false }
    // Further pictures may be lost there.
    let most = max(1, min(range / 4, Self.mostLost)) + between
    return (after.frameNumber - head.frameNumber + range) % range <= most
  }
}

extension H264PictureList.Entry {
  /// A picture that the others miss.
  fileprivate static func lost(isKey: Bool) -> H264PictureList.Entry {
    H264PictureList.Entry(head: nil, sequence: nil, isKey: isKey, offset: nil)
  }
}
