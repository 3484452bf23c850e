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

  /// Adds a unit of type 7 or 8.
  mutating func add(_ unit: some Collection<UInt8>) {
    switch (unit.first ?? 0) & 0x1f {
    case 7: if let set = H264Sequence(unit) { sequences[set.number] = set }
    case 8: if let set = H264PictureSet(unit) { pictures[set.number] = set }
    default: break
    }
  }
}
