import Core

/// The pictures of an H.264 stream in decoding order, collected from slice headers.
///
/// Two coded fields make one picture; redundant copies make none. A slice with a damaged header
/// counts as a picture of its own where a picture is expected to begin.
struct H264PictureList {
  /// A picture or field, as described by its first slice.
  struct Entry {
    /// `nil` where the header cannot be read.
    var head: H264SliceHeader?
    var sequence: H264Sequence?
    var isKey: Bool
    /// Offset of the first slice in the file; `nil` for a picture that is not in the file.
    var offset: Int64?
    /// Index into `parameterSets` of those that apply.
    var sets: Int?
  }

  private(set) var entries: [Entry] = []
  /// The parameter set units, each with a start code, in all combinations that occurred.
  private(set) var parameterSets: [[UInt8]] = []
  private var rawSets: [[UInt8]: [UInt8]] = [:]
  private var sets = H264ParameterSets()
  private var slices = 0
  /// Number of slices of the last complete picture.
  private var usualSlices = 1
  private var slicesBefore = 0

  /// Number of bytes of a unit to read: whole parameter sets, and the longest slice headers.
  static let headerBytes = 1024
  private static let sliceHeaderBytes = 256

  /// Adds parameter sets and slices; ignores other units.
  ///
  /// - Parameter unit: the first `headBytes` of a NAL unit; may extend beyond its end.
  mutating func add(_ unit: some Collection<UInt8>, at offset: Int64) {
    guard let head = unit.first else { return }
    switch head & 0x1f {
    case 7, 8:
      sets.add(unit)
      keep(unit)
    case 1, 5: addSlice(unit.prefix(Self.sliceHeaderBytes), at: offset, isKey: head & 0x1f == 5)
    default: break
    }
  }

  private mutating func addSlice(_ unit: some Collection<UInt8>, at offset: Int64, isKey: Bool) {
    guard let head = H264SliceHeader(unit, sets), let sequence = sets.sequences[head.sequence]
    else {
      // Begins a picture if its first-slice bit says so, or if the current picture has all its
      // slices.
      let begins = unit.dropFirst().first.map { $0 & 0x80 != 0 } ?? false
      if begins || entries.isEmpty || slices >= usualSlices {
        begin(Entry(head: nil, sequence: nil, isKey: isKey, offset: offset))
      } else {
        slices += 1
      }
      return
    }
    if head.isRedundant { return }
    if head.firstBlock > 0, let last = entries.last {
      if last.head?.isOfSamePicture(as: head) ?? (slices < usualSlices) {
        slices += 1
        return
      }
      if entries.count > 1, entries[entries.count - 2].head?.isOfSamePicture(as: head) ?? false {
        // What seemed to begin a picture was a damaged slice of this one.
        entries.removeLast()
        slices = slicesBefore + 2
        return
      }
      if slices < usualSlices, last.head?.startsSequence == head.startsSequence {
        // A damaged slice of the current picture.
        slices += 1
        return
      }
    }
    begin(Entry(head: head, sequence: sequence, isKey: isKey, offset: offset))
  }

  /// Stores a parameter set unit in place of the one of the same kind and ID.
  private mutating func keep(_ unit: some Collection<UInt8>) {
    let bytes = Array(unit)
    let whole = NALUnits.ranges(in: [0, 0, 1] + bytes).first.map {
      Array(bytes[..<($0.upperBound - 3)])
    }
    guard let whole, let kind = whole.first else { return }
    // The ID of a sequence parameter set is after three bytes, that of a picture parameter set
    // comes first.
    var bits = BitReader(whole, skipping: kind & 0x1f == 7 ? 4 : 1)
    guard let number = bits.golomb(upTo: 255) else { return }
    let key = [kind & 0x1f, UInt8(number)]
    guard rawSets[key] != whole else { return }
    rawSets[key] = whole
    let all = rawSets.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    parameterSets.append(all.flatMap { [0, 0, 0, 1] + $0.value })
  }

  private mutating func begin(_ new: Entry) {
    var entry = new
    entry.sets = parameterSets.indices.last
    if entries.last?.head != nil { usualSlices = max(1, slices) }
    slicesBefore = slices
    slices = 1
    entries.append(entry)
  }

  /// The parameter set of the first readable picture.
  var firstSequence: H264Sequence? { entries.lazy.compactMap(\.sequence).first }

  /// Whether the parameter sets state that display order is decoding order.
  var claimsOrder: Bool {
    let sequences = sets.sequences.values
    return !sequences.isEmpty && sequences.allSatisfy { $0.reorderedPictures == 0 }
  }

  /// The pictures and their order.
  ///
  /// - Parameters:
  ///   - stated: picture counts from other sources. If one of them agrees with the units of the
  ///     file, and none with the count that includes lost pictures, no picture is taken as lost.
  ///   - decodes: whether the picture of an entry decodes without a complaint about itself.
  func pictures(
    stated: Set<Int> = [], decodes: @escaping (Int) -> Bool
  ) -> (pictures: [CodedPicture], offsets: [Int64], isReordered: Bool) {
    let chain = H264FrameChain(entries, decodes: decodes)
    let found = pictures(of: chain)
    let units = found.pictures.count - chain.lostPictures
    guard chain.lostPictures > 0, stated.contains(units), !stated.contains(found.pictures.count)
    else { return found }
    return pictures(of: H264FrameChain(entries, putsIn: false, decodes: decodes))
  }

  private func pictures(
    of chain: H264FrameChain
  ) -> (pictures: [CodedPicture], offsets: [Int64], isReordered: Bool) {
    var pictures: [CodedPicture] = []
    var offsets: [Int64] = []
    var count = H264OrderCount()
    var openField: H264SliceHeader?
    var inversions = 0
    for entry in chain.entries {
      var picture = CodedPicture()
      if let head = entry.head, let sequence = entry.sequence {
        picture.position = count.position(head, sequence)
        picture.size = PictureSize(width: sequence.width, height: sequence.height)
        if head.completes(openField) {
          openField = nil
          continue
        }
        openField = head.isField ? head : nil
      } else {
        // The second field of a pair is not a picture of its own.
        if openField != nil {
          openField = nil
          continue
        }
        if entry.isKey { picture.position = count.restart() }
        picture.size = pictures.last?.size
      }
      if let position = picture.position, let last = pictures.last?.position, position <= last {
        inversions += 1
      }
      pictures.append(picture)
      offsets.append(entry.offset ?? -1)
    }
    // A stream that states decoding order but always deviates from it is not trusted.
    let isReordered = sets.isReordered && !(claimsOrder && inversions * 10 <= pictures.count)
    return (pictures, offsets, isReordered)
  }
}

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
      if read(index, &state) { index += 1 } else { (index, state) = start }
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

  /// Takes the next picture. Returns `false` where an earlier header turned out to be damaged: reading starts over at the
  /// last restart.
  private mutating func read(_ index: Int, _ state: inout State) -> Bool {
    let entry = all[index]
    lost[index] = nil
    lostKeys.remove(index)
    guard let head = entry.head, let sequence = entry.sequence, !unbelieved.contains(index) else {
      if entry.isKey { state = State(last: 0) } else { state.unread += 1 }
      return true
    }
    if head.startsSequence { state = State() }
    let range = 1 << sequence.frameNumberBits
    if let number = state.last, !sequence.allowsGaps {
      let step = (head.frameNumber - number + range) % range
      if step > 1 + state.unread {
        let count = step - 1 - state.unread
        let isWhole = decodes(index)
        if isWhole, doubt(state.read) { return false }
        guard isWhole,
          goesOn(from: index, head, after: number, state.unread, range)
            ?? (count <= Self.mostUnconfirmed)
        else {
          unbelieved.insert(index)
          state.unread += 1
          return true
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
    return true
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
