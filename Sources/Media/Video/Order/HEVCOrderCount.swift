import Core

/// Computes the display position of each picture of an HEVC stream (ITU-T H.265, 8.1.3 and 8.3.1),
/// picture by picture in decoding order.
struct HEVCOrderCount: PacketOrder {
  private struct Sequence {
    var lowBits: Int
    var hasSeparatePlanes: Bool
    var size: PictureSize
  }

  private struct PictureSet {
    var sequence: Int
    var hasOutputFlag: Bool
    var extraBits: Int
  }

  private var sequences: [Int: Sequence] = [:]
  private var pictures: [Int: PictureSet] = [:]
  private var sequence = 0
  private var previousOrder = 0
  private var hasStarted = false
  /// Whether leading pictures of the last key picture are not displayed, because they refer to
  /// missing pictures.
  private var skipsLeading = false

  func isSet(_ head: UInt8) -> Bool { (33...34).contains(head >> 1 & 0x3f) }

  /// The header of a unit has two bytes.
  mutating func add(_ unit: ArraySlice<UInt8>) -> CodedPicture? {
    guard let head = unit.first else { return nil }
    let type = Int(head >> 1 & 0x3f)
    switch type {
    case 33: addSequence(unit)
    case 34: addPictureSet(unit)
    case 0...9, 16...21: return picture(unit, type)
    default: break
    }
    return nil
  }

  /// At a key picture counts restart.
  mutating func skip(isKey: Bool, isBelieved: Bool) {
    guard isKey else { return }
    sequence += 1
    previousOrder = 0
    hasStarted = true
    skipsLeading = false
  }

  private mutating func picture(_ unit: some Collection<UInt8>, _ type: Int) -> CodedPicture? {
    var bits = BitReader(unit, skipping: 2)
    guard bits.flag() == true else { return nil }
    let isKey = type >= 16
    guard !isKey || bits.skip(1), let number = bits.golomb(upTo: 63), let set = pictures[number],
      let parameters = sequences[set.sequence], bits.skip(set.extraBits),
      bits.golomb(upTo: 2) != nil
    else { return CodedPicture(position: nil, size: nil) }
    var picture = CodedPicture(position: nil, size: parameters.size)
    if set.hasOutputFlag {
      guard let isShown = bits.flag() else { return picture }
      picture.isHidden = !isShown
    }
    guard !parameters.hasSeparatePlanes || bits.skip(2) else { return picture }
    let restarts = (16...20).contains(type) || !hasStarted
    if isKey {
      skipsLeading = type < 19 || (type == 21 && restarts)
      if restarts { sequence += 1 }
      hasStarted = true
    }
    let range = 1 << parameters.lowBits
    var order = 0
    if type != 19 && type != 20 {
      guard let low = bits.bits(parameters.lowBits) else { return picture }
      let previousLow = previousOrder & (range - 1)
      var high = isKey && restarts ? 0 : previousOrder - previousLow
      if !(isKey && restarts) {
        if low < previousLow, previousLow - low >= range / 2 {
          high += range
        } else if low > previousLow, low - previousLow > range / 2 {
          high -= range
        }
      }
      order = high + low
    }
    // Only reference pictures of the lowest temporal layer count for the next.
    let layer = unit.dropFirst().first.map { Int($0 & 7) } ?? 1
    if layer == 1, ![0, 2, 4, 6, 7, 8, 9].contains(type) { previousOrder = order }
    if (type == 8 || type == 9), skipsLeading { picture.isHidden = true }
    picture.position = DisplayPosition(sequence: sequence, order: order)
    return picture
  }

  private mutating func addSequence(_ unit: some Collection<UInt8>) {
    var bits = BitReader(unit, skipping: 2)
    guard bits.skip(4), let layers = bits.bits(3), bits.skip(1), Self.skipProfile(&bits, layers),
      let number = bits.golomb(upTo: 15), let chroma = bits.golomb(upTo: 3)
    else { return }
    var isSeparate = false
    if chroma == 3 { isSeparate = bits.flag() ?? false }
    guard var width = bits.golomb(upTo: 1 << 16), var height = bits.golomb(upTo: 1 << 16),
      let isCropped = bits.flag()
    else { return }
    if isCropped {
      guard let left = bits.golomb(), let right = bits.golomb(), let top = bits.golomb(),
        let bottom = bits.golomb()
      else { return }
      width -= (chroma == 1 || chroma == 2 ? 2 : 1) * (left + right)
      height -= (chroma == 1 ? 2 : 1) * (top + bottom)
    }
    guard bits.golomb() != nil, bits.golomb() != nil, let lowBits = bits.golomb(upTo: 12) else {
      return
    }
    sequences[number] = Sequence(
      lowBits: lowBits + 4, hasSeparatePlanes: isSeparate,
      size: PictureSize(width: width, height: height))
  }

  /// Skips `profile_tier_level` (7.3.3).
  private static func skipProfile(_ bits: inout BitReader, _ layers: Int) -> Bool {
    guard bits.skip(96) else { return false }
    guard layers > 0 else { return true }
    var present: [(Bool, Bool)] = []
    for _ in 0..<layers {
      guard let profile = bits.flag(), let level = bits.flag() else { return false }
      present.append((profile, level))
    }
    guard bits.skip((8 - layers) * 2) else { return false }
    for (profile, level) in present {
      guard bits.skip((profile ? 88 : 0) + (level ? 8 : 0)) else { return false }
    }
    return true
  }

  private mutating func addPictureSet(_ unit: some Collection<UInt8>) {
    var bits = BitReader(unit, skipping: 2)
    guard let number = bits.golomb(upTo: 63), let sequence = bits.golomb(upTo: 15), bits.skip(1),
      let hasOutputFlag = bits.flag(), let extraBits = bits.bits(3)
    else { return }
    pictures[number] = PictureSet(
      sequence: sequence, hasOutputFlag: hasOutputFlag, extraBits: extraBits)
  }
}

/// What the header of a coded picture states.
struct CodedPicture: Hashable {
  /// `nil` where the header is damaged.
  var position: DisplayPosition?
  var size: PictureSize?
  /// Whether it is never displayed: used for reference only, not decodable from where the stream
  /// begins, or the second field of a picture.
  var isHidden = false
}
