/// Checks that the numbers of consecutive reference pictures of an H.264 stream follow each other
/// (`frame_num`, ITU-T H.264, 7.4.3). A break means a damaged header or a lost picture.
///
/// Numbers have four bits in many streams, and the header of a destroyed picture may look valid. So
/// a gap is trusted only if the pictures on both sides of it can be decoded.
struct H264FrameChain {
  /// The pictures, with untrusted headers removed and lost pictures inserted.
  private(set) var entries: [H264PictureList.Entry] = []
  /// Number of inserted pictures.
  private(set) var lostPictures = 0

  /// A larger gap is not damage but another stream.
  private static let mostLost = 16
  /// Most pictures that are taken as lost without a later picture that confirms it.
  private static let mostUnconfirmed = 2
  /// How many pictures after a gap are searched for an intact one.
  private static let mostAhead = 32

  private let all: [H264PictureList.Entry]
  private let decodes: (Int) -> Bool
  /// Indices of pictures whose headers are not trusted.
  private var unbelieved = Set<Int>()
  /// Number of lost pictures before a picture, by index.
  private var lost: [Int: Int] = [:]
  /// Indices of pictures before which the first lost picture is a key picture.
  private var lostKeys = Set<Int>()

  /// - Parameters:
  ///   - all: the pictures and fields in decoding order, as read from their units.
  ///   - putsIn: whether lost pictures are inserted at all.
  ///   - decodes: whether the picture at an index of `all` decodes without a complaint about
  ///     itself. Called only at gaps.
  init(
    _ all: [H264PictureList.Entry], putsIn: Bool = true, decodes: @escaping (Int) -> Bool
  ) {
    self.all = all
    self.decodes = decodes
    var index = 0
    var state = State()
    /// The last restart of the numbers, and the state before it.
    var start = (index: 0, state: State())
    while index < all.count {
      if all[index].head?.startsSequence ?? all[index].isKey { start = (index, state) }
      switch read(index, &state) {
      case .goesOn: index += 1
      case .restart: (index, state) = start
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
    /// Number of the last reference picture; `nil` after a restart.
    var last: Int?
    /// Number of pictures with untrusted headers since then.
    var unread = 0
    /// Pictures with trusted headers since the last restart.
    var read: [Int] = []
  }

  private enum Step {
    case goesOn
    /// An earlier header turned out to be damaged: start over at the last restart.
    case restart
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
        if isWhole, doubt(state.read) { return .restart }
        guard isWhole,
          goesOn(from: index, head, after: number, state.unread, range)
            ?? (count <= Self.mostUnconfirmed)
        else {
          unbelieved.insert(index)
          state.unread += 1
          return .goesOn
        }
        // A lost key picture, at which numbers restart, explains more with fewer lost pictures.
        let sinceKey = max(0, head.frameNumber - state.unread)
        if 2 * sinceKey < count {
          lost[index] = sinceKey
          if sinceKey > 0 { lostKeys.insert(index) }
        } else if count <= Self.mostLost {
          lost[index] = count
        }
        // The picture that it refers to is lost, and counted.
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

  /// Tests the pictures before a gap, back to the last intact reference picture; returns whether
  /// one of them is damaged, so that its header is not trusted.
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

  /// Whether the pictures after a gap continue from its far side rather than from its near side;
  /// `nil` if none of the sequence follows.
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
    // More pictures may be lost there.
    let most = max(1, min(range / 4, Self.mostLost)) + between
    return (after.frameNumber - head.frameNumber + range) % range <= most
  }
}

extension H264PictureList.Entry {
  /// A picture that others refer to but that is not in the stream.
  fileprivate static func lost(isKey: Bool) -> H264PictureList.Entry {
    H264PictureList.Entry(head: nil, sequence: nil, isKey: isKey, offset: nil)
  }
}
