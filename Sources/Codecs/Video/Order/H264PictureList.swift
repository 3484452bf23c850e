/// The pictures of an H.264 stream in decoding order, gathered from the heads of its slices.
///
/// Coded fields make a picture in pairs; redundant copies make none. A slice whose head is damaged stands
/// for a picture of its own where the stream would begin one.
struct H264PictureList {
  /// A picture or field as its first slice tells of it.
  struct Entry {
    /// `nil` where the head cannot be read.
    var head: H264SliceHeader?
    var sequence: H264Sequence?
    var isKey: Bool
    /// Where the first slice begins; `nil` for a picture that is not in the file.
    var offset: Int64?
  }

  private(set) var entries: [Entry] = []
  private var sets = H264ParameterSets()
  private var slices = 0
  /// Slices of the last picture that was whole.
  private var usualSlices = 1
  private var slicesBefore = 0

  /// Bytes of a unit that are looked at: parameter sets whole, slices as far as their heads may go.
  static let headBytes = 1024
  private static let sliceHeadBytes = 256

  init() {}

  /// Takes in parameter sets and slices; other units are nothing to it.
  ///
  /// - Parameter unit: the first `headBytes` of a NAL unit; may go on behind its end.
  mutating func add(_ unit: some Collection<UInt8>, at offset: Int64) {
    guard let head = unit.first else { return }
    switch head & 0x1f {
    case 7, 8: sets.add(unit)
    case 1, 5: addSlice(unit.prefix(Self.sliceHeadBytes), at: offset, isKey: head & 0x1f == 5)
    default: break
    }
  }

  private mutating func addSlice(_ unit: some Collection<UInt8>, at offset: Int64, isKey: Bool) {
    guard let head = H264SliceHeader(unit, sets), let sequence = sets.sequences[head.sequence]
    else {
      // Of a new picture if it says that it begins one, or if the one at hand has all its slices.
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
        // A damaged slice of the picture at hand.
        slices += 1
        return
      }
    }
    begin(Entry(head: head, sequence: sequence, isKey: isKey, offset: offset))
  }

  private mutating func begin(_ entry: Entry) {
    if entries.last?.head != nil { usualSlices = max(1, slices) }
    slicesBefore = slices
    slices = 1
    entries.append(entry)
  }

  /// Display order may differ from decoding order.
  var isReordered: Bool {
    let sequences = sets.sequences.values
    guard !sequences.isEmpty else { return true }
    return !sequences.allSatisfy { $0.order == .asDecoded }
  }

  /// Display order is said to be decoding order, whatever the pictures say.
  var claimsOrder: Bool {
    let sequences = sets.sequences.values
    return !sequences.isEmpty && sequences.allSatisfy { $0.reorderedPictures == 0 }
  }

  /// The pictures and their order.
  func pictures() -> (pictures: [CodedPicture], offsets: [Int64], isReordered: Bool) {
    let chain = H264FrameChain(entries)
    var pictures: [CodedPicture] = []
    var offsets: [Int64] = []
    var count = H264OrderCount()
    var openField: H264SliceHeader?
    var inversions = 0
    for entry in chain.entries {
      var picture = CodedPicture()
      if let head = entry.head, let sequence = entry.sequence {
        picture.place = count.place(head, sequence)
        picture.size = PictureExtent(width: sequence.width, height: sequence.height)
        if head.isField, let first = openField, first.isBottom != head.isBottom,
          first.frameNumber == head.frameNumber, !head.startsSequence || first.startsSequence
        {
          openField = nil
          continue
        }
        openField = head.isField ? head : nil
      } else {
        // The second field of a pair is no picture.
        if openField != nil {
          openField = nil
          continue
        }
        if entry.isKey { picture.place = count.restart() }
        picture.size = pictures.last?.size
      }
      if let place = picture.place, let last = pictures.last?.place, place <= last {
        inversions += 1
      }
      pictures.append(picture)
      offsets.append(entry.offset ?? -1)
    }
    // A stream that says so and does otherwise all the time is not believed.
    let isReordered = isReordered && !(claimsOrder && inversions * 10 <= pictures.count)
    return (pictures, offsets, isReordered)
  }
}
