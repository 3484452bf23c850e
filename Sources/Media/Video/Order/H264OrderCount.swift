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
