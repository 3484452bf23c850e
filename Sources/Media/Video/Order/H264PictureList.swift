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

  init() {}

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

  /// Whether display order may differ from decoding order.
  var isReordered: Bool {
    let sequences = sets.sequences.values
    guard !sequences.isEmpty else { return true }
    return !sequences.allSatisfy { $0.order == .asDecoded }
  }

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
        picture.size = PictureExtent(width: sequence.width, height: sequence.height)
        if head.isField, let first = openField, first.isBottom != head.isBottom,
          first.frameNumber == head.frameNumber, !head.startsSequence || first.startsSequence
        {
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
    let isReordered = isReordered && !(claimsOrder && inversions * 10 <= pictures.count)
    return (pictures, offsets, isReordered)
  }
}
