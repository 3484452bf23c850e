/// The pictures of an H.264 stream in decoding order, gathered from the heads of its NAL units.
///
/// Coded fields make a picture in pairs; redundant copies make none. A slice whose head is damaged stands
/// for a picture of its own where the stream would begin one.
struct H264PictureList {
  private(set) var pictures: [CodedPicture] = []
  /// Where the first slice of each begins.
  private(set) var offsets: [Int64] = []
  private var sets = H264ParameterSets()
  private var count = H264OrderCount()
  /// The head of the picture or field that slices now belong to.
  private var current: H264SliceHeader?
  private var slices = 0
  /// Slices of the last picture that was whole.
  private var usualSlices = 1
  private var lastBlock = 0
  /// A first field waits for the second.
  private var openField: H264SliceHeader?
  private var claimsOrder = true
  private var inversions = 0

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

  /// Display order may differ from decoding order.
  var isReordered: Bool {
    let sequences = sets.sequences.values
    guard !sequences.isEmpty else { return true }
    if sequences.allSatisfy({ $0.order == .asDecoded }) { return false }
    // A stream that says so and does otherwise all the time is not believed.
    return !sequences.allSatisfy { $0.reorderedPictures == 0 } || inversions * 10 > pictures.count
  }

  private mutating func addSlice(_ unit: some Collection<UInt8>, at offset: Int64, isKey: Bool) {
    guard let head = H264SliceHeader(unit, sets), let sequence = sets.sequences[head.sequence]
    else {
      addDamaged(unit, at: offset, isKey: isKey)
      return
    }
    if head.isRedundant { return }
    if head.firstBlock > 0, let current, current.isOfSamePicture(as: head) {
      slices += 1
      lastBlock = max(lastBlock, head.firstBlock)
      return
    }
    if head.firstBlock > 0, head.firstBlock <= lastBlock || slices < usualSlices, current != nil,
      !differsClearly(head)
    {
      // A damaged slice of the picture at hand.
      slices += 1
      return
    }
    begin(head, sequence, at: offset)
  }

  /// Whether the slice can be of no picture but the next.
  private func differsClearly(_ head: H264SliceHeader) -> Bool {
    guard let current else { return true }
    return slices >= usualSlices && head.frameNumber != current.frameNumber
      || head.startsSequence != current.startsSequence
  }

  private mutating func begin(_ head: H264SliceHeader, _ sequence: H264Sequence, at offset: Int64) {
    if current != nil { usualSlices = slices }
    let place = count.place(head, sequence)
    current = head
    slices = 1
    lastBlock = head.firstBlock
    if head.isField, let first = openField, first.isField, first.isBottom != head.isBottom,
      first.frameNumber == head.frameNumber, !head.startsSequence || first.startsSequence
    {
      openField = nil
      return
    }
    openField = head.isField ? head : nil
    if let last = pictures.last?.place, place <= last { inversions += 1 }
    pictures.append(
      CodedPicture(
        place: place, size: PictureExtent(width: sequence.width, height: sequence.height)))
    offsets.append(offset)
  }

  /// A slice whose head cannot be read: of a new picture if it says that it begins one, or if the picture at
  /// hand has all slices that pictures have here.
  private mutating func addDamaged(_ unit: some Collection<UInt8>, at offset: Int64, isKey: Bool) {
    let beginsPicture = unit.dropFirst().first.map { $0 & 0x80 != 0 } ?? false
    guard beginsPicture || current == nil || slices >= usualSlices else {
      slices += 1
      return
    }
    // The second field of a pair is no picture.
    if openField != nil {
      openField = nil
      return
    }
    let place = isKey ? count.restart() : nil
    slices = 1
    lastBlock = 0
    pictures.append(CodedPicture(place: place, size: pictures.last?.size))
    offsets.append(offset)
  }
}
