/// The parts of an H.264 slice header (ITU-T H.264, 7.3.3) that concern order.
struct H264SliceHeader: Hashable {
  var isReference: Bool
  var startsSequence: Bool
  var firstBlock: Int
  var pictureSet: Int
  var sequence: Int
  var frameNumber: Int
  var isField: Bool
  var isBottom: Bool
  var orderLow = 0
  /// `delta_pic_order_cnt_bottom`, or the first and second of `delta_pic_order_cnt`.
  var orderDeltas = [0, 0]
  /// Whether it belongs to a redundant copy for receivers that lost the picture; decoders ignore
  /// it.
  var isRedundant = false
  /// Whether the picture drops all earlier reference pictures, as a key picture does (memory
  /// operation 5).
  var forgetsAll = false

  /// Whether both slices belong to one picture or field (7.4.1.2.4).
  func isOfSamePicture(as other: H264SliceHeader) -> Bool {
    frameNumber == other.frameNumber && pictureSet == other.pictureSet
      && isField == other.isField && isBottom == other.isBottom
      && isReference == other.isReference && startsSequence == other.startsSequence
      && orderLow == other.orderLow && orderDeltas == other.orderDeltas
  }

  /// Whether it begins the second field of the picture that begins with `first`.
  func completes(_ first: H264SliceHeader?) -> Bool {
    guard isField, let first else { return false }
    return first.isBottom != isBottom && first.frameNumber == frameNumber
      && (!startsSequence || first.startsSequence)
  }

  /// `nil` where the header is damaged or its parameter sets are unknown.
  init?(_ unit: some Collection<UInt8>, _ sets: H264ParameterSets) {
    guard let head = unit.first else { return nil }
    isReference = head & 0x60 != 0
    startsSequence = head & 0x1f == 5
    var bits = BitReader(unit, skipping: 1)
    guard let firstBlock = bits.golomb(upTo: 1 << 20), let kind = bits.golomb(upTo: 9),
      let setNumber = bits.golomb(upTo: 255), let set = sets.pictures[setNumber],
      let sequence = sets.sequences[set.sequence]
    else { return nil }
    self.firstBlock = firstBlock
    pictureSet = setNumber
    self.sequence = set.sequence
    guard !sequence.hasSeparatePlanes || bits.skip(2),
      let frameNumber = bits.bits(sequence.frameNumberBits)
    else { return nil }
    self.frameNumber = frameNumber
    isField = false
    isBottom = false
    if sequence.allowsFields {
      guard let isField = bits.flag() else { return nil }
      self.isField = isField
      if isField {
        guard let isBottom = bits.flag() else { return nil }
        self.isBottom = isBottom
      }
    }
    guard !startsSequence || (frameNumber == 0 && bits.golomb(upTo: 65535) != nil) else {
      return nil
    }
    let hasBottomDelta = set.hasFieldOrder && !isField
    switch sequence.order {
    case .counted(let lowBits):
      guard let low = bits.bits(lowBits) else { return nil }
      orderLow = low
      if hasBottomDelta {
        guard let delta = bits.signedGolomb() else { return nil }
        orderDeltas[0] = delta
      }
    case .stepped(isFixed: false, _, _, _):
      guard let delta = bits.signedGolomb() else { return nil }
      orderDeltas[0] = delta
      if hasBottomDelta {
        guard let delta = bits.signedGolomb() else { return nil }
        orderDeltas[1] = delta
      }
    case .stepped, .asDecoded: break
    }
    if set.hasRedundancy {
      guard let count = bits.golomb(upTo: 127) else { return nil }
      isRedundant = count > 0
    }
    // A header longer than the bytes read contains no relevant memory operation.
    if isReference, !startsSequence {
      forgetsAll = Self.forgetsAll(&bits, kind: kind % 5, set, sequence) ?? false
    }
  }

  /// Skips to the memory operations. Slice types: 0 P, 1 B, 2 I, 3 SP, 4 SI.
  private static func forgetsAll(
    _ bits: inout BitReader, kind: Int, _ set: H264PictureSet, _ sequence: H264Sequence
  ) -> Bool? {
    let isBidirectional = kind == 1
    let lists = kind == 2 || kind == 4 ? 0 : isBidirectional ? 2 : 1
    var references = set.references
    guard !isBidirectional || bits.skip(1) else { return nil }
    if lists > 0 {
      guard let overrides = bits.flag() else { return nil }
      for list in 0..<lists where overrides {
        guard let count = bits.golomb(upTo: 31) else { return nil }
        references[list] = count + 1
      }
    }
    for _ in 0..<lists {
      guard let isModified = bits.flag() else { return nil }
      guard isModified else { continue }
      while let operation = bits.golomb(upTo: 5), operation != 3 {
        guard bits.golomb() != nil else { return nil }
      }
    }
    if (set.isWeighted && (kind == 0 || kind == 3))
      || (set.weightsBidirectional == 1 && isBidirectional)
    {
      let hasColor = sequence.chromaFormat != 0 && !sequence.hasSeparatePlanes
      guard bits.golomb() != nil, !hasColor || bits.golomb() != nil else { return nil }
      for list in 0..<lists {
        for _ in 0..<references[list] {
          for values in hasColor ? [2, 4] : [2] {
            guard let isPresent = bits.flag() else { return nil }
            for _ in 0..<(isPresent ? values : 0) where bits.signedGolomb() == nil { return nil }
          }
        }
      }
    }
    guard bits.flag() == true else { return false }
    // Number of operands by operation.
    let operands = [1: 1, 2: 1, 3: 2, 4: 1, 5: 0, 6: 1]
    var found = false
    while let operation = bits.golomb(upTo: 6), operation != 0 {
      if operation == 5 { found = true }
      for _ in 0..<(operands[operation] ?? 0) where bits.golomb() == nil { return nil }
    }
    return found
  }
}

/// The parameter sets read so far; a later one of the same ID replaces the earlier.
struct H264ParameterSets {
  private(set) var sequences: [Int: H264Sequence] = [:]
  private(set) var pictures: [Int: H264PictureSet] = [:]

  /// Whether display order may differ from decoding order.
  var isReordered: Bool {
    sequences.isEmpty || sequences.values.contains { $0.order != .asDecoded }
  }

  /// Adds a unit of type 7 or 8.
  mutating func add(_ unit: some Collection<UInt8>) {
    switch (unit.first ?? 0) & 0x1f {
    case 7: if let set = H264Sequence(unit) { sequences[set.number] = set }
    case 8: if let set = H264PictureSet(unit) { pictures[set.number] = set }
    default: break
    }
  }
}

/// Computes the display position of each picture of an H.264 stream (ITU-T H.264, 8.2.1), picture
/// by picture in decoding order.
struct H264OrderCount {
  private var sequence = 0
  private var previousHigh = 0
  private var previousLow = 0
  private var previousFrameNumber = 0
  private var previousOffset = 0
  private var previousForgot = false

  /// Display position of the picture or field that begins with this slice.
  mutating func position(_ head: H264SliceHeader, _ set: H264Sequence) -> DisplayPosition {
    if head.startsSequence {
      sequence += 1
      (previousHigh, previousLow, previousOffset) = (0, 0, 0)
      previousForgot = false
    }
    var fields: (top: Int, bottom: Int)
    switch set.order {
    case .counted(let lowBits): fields = counted(head, range: 1 << lowBits)
    case .stepped(_, let nonReference, let bottom, let steps):
      fields = stepped(head, set, nonReference: nonReference, bottom: bottom, steps: steps)
    case .asDecoded:
      let offset = frameOffset(head, set)
      let value = 2 * (offset + head.frameNumber) - (head.isReference ? 0 : 1)
      fields = (value, value)
      previousOffset = offset
    }
    if head.isField {
      fields = head.isBottom ? (fields.bottom, fields.bottom) : (fields.top, fields.top)
    }
    previousFrameNumber = head.frameNumber
    previousForgot = head.forgetsAll
    if head.forgetsAll {
      // Earlier pictures are displayed before; this picture becomes number 0 of a new sequence.
      sequence += 1
      let least = min(fields.top, fields.bottom)
      previousHigh = 0
      previousLow = head.isField && head.isBottom ? 0 : fields.top - least
      previousOffset = 0
      previousFrameNumber = 0
      return DisplayPosition(sequence: sequence, order: 0)
    }
    return DisplayPosition(sequence: sequence, order: min(fields.top, fields.bottom))
  }

  /// Display position of a key picture about which nothing else is known.
  mutating func restart() -> DisplayPosition {
    sequence += 1
    (previousHigh, previousLow, previousOffset, previousFrameNumber) = (0, 0, 0, 0)
    previousForgot = false
    return DisplayPosition(sequence: sequence, order: 0)
  }

  private mutating func counted(
    _ head: H264SliceHeader, range: Int
  ) -> (top: Int, bottom: Int) {
    let low = head.orderLow
    var high = previousHigh
    if low < previousLow, previousLow - low >= range / 2 {
      high += range
    } else if low > previousLow, low - previousLow > range / 2 {
      high -= range
    }
    if head.isReference { (previousHigh, previousLow) = (high, low) }
    let value = high + low
    return (value, value + (head.isField ? 0 : head.orderDeltas[0]))
  }

  /// How many frame numbers have wrapped around before.
  private func frameOffset(_ head: H264SliceHeader, _ set: H264Sequence) -> Int {
    if head.startsSequence { return 0 }
    let before = previousForgot ? 0 : previousOffset
    return previousFrameNumber > head.frameNumber ? before + 1 << set.frameNumberBits : before
  }

  private mutating func stepped(
    _ head: H264SliceHeader, _ set: H264Sequence, nonReference: Int, bottom: Int, steps: [Int]
  ) -> (top: Int, bottom: Int) {
    let offset = frameOffset(head, set)
    previousOffset = offset
    var number = steps.isEmpty ? 0 : offset + head.frameNumber
    if !head.isReference, number > 0 { number -= 1 }
    var expected = 0
    if number > 0 {
      let (cycles, position) = (number - 1).quotientAndRemainder(dividingBy: steps.count)
      expected = cycles * steps.reduce(0, +) + steps[...position].reduce(0, +)
    }
    if !head.isReference { expected += nonReference }
    let top = expected + head.orderDeltas[0]
    if head.isField { return (top, expected + bottom + head.orderDeltas[0]) }
    return (top, top + bottom + head.orderDeltas[1])
  }
}

/// A display position: ordered by sequence, then by order within the sequence.
struct DisplayPosition: Hashable, Comparable {
  var sequence: Int
  var order: Int

  static func < (a: DisplayPosition, b: DisplayPosition) -> Bool {
    (a.sequence, a.order) < (b.sequence, b.order)
  }
}
