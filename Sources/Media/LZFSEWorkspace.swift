/// The tables of an entropy-coded block and its literals. Used for one block after the other.
final class LZFSEWorkspace {
  /// One state of a table of lengths or distances.
  private struct ValueState {
    /// Bits to read, those of the value included.
    var bits: UInt8 = 0
    var valueBits: UInt8 = 0
    var delta: Int16 = 0
    var base: Int32 = 0
  }

  private var literalLengths = [ValueState](
    repeating: ValueState(), count: LZFSEHeader.lengthStates)
  private var matchLengths = [ValueState](repeating: ValueState(), count: LZFSEHeader.lengthStates)
  private var distances = [ValueState](repeating: ValueState(), count: LZFSEHeader.distanceStates)
  /// Bits to read in the lowest byte, then the literal, then what is added to the bits for the next state.
  private var literalStates = [UInt32](repeating: 0, count: LZFSEHeader.literalStates)
  /// With space for copies of 32 bytes at once.
  private var literals = [UInt8](repeating: 0, count: LZFSEHeader.mostLiterals + 64)

  private static let literalLengthBits: [UInt8] = Array(repeating: 0, count: 16) + [2, 3, 5, 8]
  private static let literalLengthBases: [Int32] = Array(0..<16) + [16, 20, 28, 60]
  private static let matchLengthBits: [UInt8] = Array(repeating: 0, count: 16) + [3, 5, 8, 11]
  private static let matchLengthBases: [Int32] = Array(0..<16) + [16, 24, 56, 312]
  /// Four distances for each number of bits, 0 to 15.
  private static let distanceBits: [UInt8] = (0..<64).map { UInt8($0 / 4) }
  private static let distanceBases: [Int32] = distanceBits.indices.map { symbol in
    distanceBits[..<symbol].reduce(0) { $0 + (1 << Int32($1)) }
  }

  /// Decodes a block whose payloads lie at `begin`. `false` for a damaged one.
  ///
  /// - Parameters:
  ///   - header: its payloads are known to lie within `input`.
  ///   - output: everything decoded so far, and memory for exactly this block.
  ///   - produced: how much of `output` was decoded before.
  func decode(
    _ header: LZFSEHeader, _ input: UnsafeRawBufferPointer, at begin: Int,
    into output: UnsafeMutableRawBufferPointer, from produced: Int
  ) -> Bool {
    guard let inputStart = input.baseAddress,
      Self.fill(
        &literalLengths, header.literalLengthFrequencies, Self.literalLengthBits,
        Self.literalLengthBases),
      Self.fill(
        &matchLengths, header.matchLengthFrequencies, Self.matchLengthBits, Self.matchLengthBases),
      Self.fill(&distances, header.distanceFrequencies, Self.distanceBits, Self.distanceBases),
      fillLiterals(header.literalFrequencies)
    else { return false }
    let literalEnd = begin + header.literalPayload
    return decodeLiterals(header, inputStart, end: literalEnd)
      && copy(
        header, inputStart, end: literalEnd + header.matchPayload, into: output, from: produced)
  }

  /// Every state of a table, by the symbols' frequencies. States that no symbol has stay as an earlier block left them.
  /// `false` when the frequencies add up to more than there are states.
  private static func fill(
    _ table: inout [ValueState], _ frequencies: ArraySlice<UInt16>, _ bits: [UInt8],
    _ bases: [Int32]
  ) -> Bool {
    guard frequencies.reduce(0, { $0 + Int($1) }) <= table.count else { return false }
    let states = table.count
    var next = 0
    table.withUnsafeMutableBufferPointer { table in
      for (symbol, frequency) in frequencies.enumerated() where frequency > 0 {
        let steps = LZFSESteps(of: Int(frequency), in: states)
        for state in 0..<Int(frequency) {
          let step = steps.step(state)
          table[next] = ValueState(
            bits: UInt8(truncatingIfNeeded: step.bits) &+ bits[symbol], valueBits: bits[symbol],
            delta: Int16(truncatingIfNeeded: step.delta), base: bases[symbol])
          next &+= 1
        }
      }
    }
    return true
  }

  private func fillLiterals(_ frequencies: ArraySlice<UInt16>) -> Bool {
    let states = LZFSEHeader.literalStates
    return literalStates.withUnsafeMutableBufferPointer { table in
      frequencies.withUnsafeBufferPointer { frequencies in
        var next = 0
        for symbol in 0..<frequencies.count {
          let frequency = Int(frequencies[symbol])
          if frequency == 0 { continue }
          guard frequency <= states &- next else { return false }
          let steps = LZFSESteps(of: frequency, in: states)
          let code = UInt32(truncatingIfNeeded: symbol) &<< 8
          for state in 0..<frequency {
            let step = steps.step(state)
            table[next] =
              UInt32(truncatingIfNeeded: step.bits) | code
              | UInt32(truncatingIfNeeded: step.delta) &<< 16
            next &+= 1
          }
        }
        return true
      }
    }
  }

  /// Four states in turn.
  private func decodeLiterals(
    _ header: LZFSEHeader, _ input: UnsafeRawPointer, end: Int
  ) -> Bool {
    guard var bits = LZFSEBits(input, end: end, unused: header.literalBits) else { return false }
    var (a, b, c, d) = header.literalStart
    let count = header.literals
    return literalStates.withUnsafeBufferPointer { states in
      literals.withUnsafeMutableBufferPointer { literals in
        guard let states = states.baseAddress, let literals = literals.baseAddress else {
          return false
        }
        // Deltas and bits keep every state within the table.
        let mask = LZFSEHeader.literalStates - 1
        @inline(__always)
        func next(_ state: inout Int) -> UInt8 {
          let entry = states[state & mask]
          let delta = Int(Int16(truncatingIfNeeded: Int32(bitPattern: entry) &>> 16))
          state = delta &+ bits.pull(Int(entry & 255))
          return UInt8(truncatingIfNeeded: entry >> 8)
        }
        var at = 0
        while at < count {
          guard bits.refill() else { return false }
          literals[at] = next(&a)
          literals[at &+ 1] = next(&b)
          literals[at &+ 2] = next(&c)
          literals[at &+ 3] = next(&d)
          at &+= 4
        }
        return true
      }
    }
  }

  /// Literals and matches by turns, until the block is full.
  private func copy(
    _ header: LZFSEHeader, _ input: UnsafeRawPointer, end: Int,
    into output: UnsafeMutableRawBufferPointer, from produced: Int
  ) -> Bool {
    guard var bits = LZFSEBits(input, end: end, unused: header.matchBits),
      let start = output.baseAddress
    else { return header.matches == 0 && produced == output.count }
    var (l, m, d) = (header.literalLengthStart, header.matchLengthStart, header.distanceStart)
    let mostLiterals = header.literals
    let outputEnd = output.count
    let matches = header.matches
    return literalLengths.withUnsafeBufferPointer { literalLengths in
      matchLengths.withUnsafeBufferPointer { matchLengths in
        distances.withUnsafeBufferPointer { distances in
          literals.withUnsafeBytes { literals in
            guard let literals = literals.baseAddress else { return false }
            @inline(__always)
            func next(
              _ state: inout Int, _ table: UnsafeBufferPointer<ValueState>, _ mask: Int
            ) -> Int {
              let entry = table.baseAddress.unsafelyUnwrapped[state & mask]
              let value = bits.pull(Int(entry.bits))
              let valueBits = Int(entry.valueBits)
              state = Int(entry.delta) &+ (value &>> valueBits)
              return Int(entry.base) &+ (value & ((1 &<< valueBits) &- 1))
            }
            var distance = 0
            var literal = 0
            var out = produced
            for _ in 0..<matches {
              guard bits.refill() else { return false }
              let literalCount = next(&l, literalLengths, LZFSEHeader.lengthStates - 1)
              let matchCount = next(&m, matchLengths, LZFSEHeader.lengthStates - 1)
              let coded = next(&d, distances, LZFSEHeader.distanceStates - 1)
              // 0: the same as before.
              if coded != 0 { distance = coded }
              guard literalCount <= mostLiterals &- literal,
                literalCount &+ matchCount <= outputEnd &- out,
                distance <= out &+ literalCount, distance > 0 || matchCount == 0
              else { return false }
              let from = literals + literal
              let to = start + out
              let isFarFromEnd = outputEnd &- out &- literalCount &- matchCount >= 64
              if isFarFromEnd, literalCount <= 32 {
                copy32(from, to)
              } else {
                to.copyMemory(from: from, byteCount: literalCount)
              }
              literal &+= literalCount
              out &+= literalCount
              copyLZFSEMatch(
                to + literalCount, distance: distance, length: matchCount,
                mayOverrun: isFarFromEnd)
              out &+= matchCount
            }
            return out == outputEnd
          }
        }
      }
    }
  }
}

/// 32 bytes, whatever is needed of them.
@inline(__always)
func copy32(_ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) {
  let first = source.loadUnaligned(as: SIMD16<UInt8>.self)
  let second = (source + 16).loadUnaligned(as: SIMD16<UInt8>.self)
  target.storeBytes(of: first, as: SIMD16<UInt8>.self)
  (target + 16).storeBytes(of: second, as: SIMD16<UInt8>.self)
}

/// Copies bytes from `distance` bytes before `target`, which may overlap it.
///
/// - Parameter mayOverrun: whether 64 bytes after the match may be written.
@inline(__always)
func copyLZFSEMatch(
  _ target: UnsafeMutableRawPointer, distance: Int, length: Int, mayOverrun: Bool
) {
  let source = target - distance
  if mayOverrun, distance >= 16 {
    var at = 0
    repeat {
      (target + at).storeBytes(
        of: (source + at).loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
      at &+= 16
    } while at < length
  } else if mayOverrun, distance >= 8 {
    var at = 0
    repeat {
      (target + at).storeBytes(of: (source + at).loadUnaligned(as: UInt64.self), as: UInt64.self)
      at &+= 8
    } while at < length
  } else {
    var at = 0
    while at < length {
      (target + at).storeBytes(of: (source + at).load(as: UInt8.self), as: UInt8.self)
      at &+= 1
    }
  }
}

/// How the states of one symbol lead to the next state: by so many bits of the input and what is added to them.
struct LZFSESteps {
  private let frequency: Int
  private let states: Int
  private let bits: Int
  /// Number of states that read one bit more than the others.
  private let longer: Int

  /// - Parameters:
  ///   - frequency: how many states the symbol has, at least 1.
  ///   - states: how many there are, a power of two.
  init(of frequency: Int, in states: Int) {
    self.frequency = frequency
    self.states = states
    // The bits that make the frequency fill the states: states ≤ frequency << bits < 2 · states.
    bits = frequency.leadingZeroBitCount &- states.leadingZeroBitCount
    longer = ((2 &* states) &>> bits) &- frequency
  }

  /// Bits and delta of the symbol's own state `state`, from 0.
  @inline(__always)
  func step(_ state: Int) -> (bits: Int, delta: Int) {
    state < longer
      ? (bits, ((frequency &+ state) &<< bits) &- states)
      : (bits &- 1, (state &- longer) &<< (bits &- 1))
  }
}

/// Bits of a payload, which is read from its end to its start, at most 56 between two refills.
struct LZFSEBits {
  private let input: UnsafeRawPointer
  /// Where the next bytes end. Never below 0.
  private var at: Int
  private var bits: UInt64
  private var available: Int

  /// - Parameters:
  ///   - end: where the payload ends in `input`.
  ///   - unused: -7…0.
  /// - Returns: `nil` where fewer bytes lie before the end than are read at once, or the unused bits are not zero.
  init?(_ input: UnsafeRawPointer, end: Int, unused: Int) {
    self.input = input
    if unused == 0 {
      guard end >= 8 else { return nil }
      at = end - 7
      bits =
        UInt64(littleEndian: input.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self)) >> 8
      available = 56
    } else {
      guard end >= 8 else { return nil }
      at = end - 8
      bits = UInt64(littleEndian: input.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      available = 64 + unused
    }
    guard bits >> UInt64(available) == 0 else { return nil }
  }

  /// Makes at least 56 bits available. `false` at the start of the input.
  @inline(__always)
  mutating func refill() -> Bool {
    let count = (63 &- available) & -8
    // Otherwise the eight bytes might end behind the payload.
    if count == 0 { return true }
    let next = at &- (count >> 3)
    guard next >= 0 else { return false }
    at = next
    let more = UInt64(littleEndian: input.loadUnaligned(fromByteOffset: next, as: UInt64.self))
    bits = (bits &<< UInt64(truncatingIfNeeded: count)) | Self.low(more, count)
    available &+= count
    return true
  }

  /// At most what is available.
  @inline(__always)
  mutating func pull(_ count: Int) -> Int {
    available &-= count
    let value = bits &>> UInt64(truncatingIfNeeded: available)
    bits = Self.low(bits, available)
    return Int(truncatingIfNeeded: value)
  }

  /// The lowest 0…63 bits.
  @inline(__always)
  private static func low(_ bits: UInt64, _ count: Int) -> UInt64 {
    bits & ((1 &<< UInt64(truncatingIfNeeded: count)) &- 1)
  }
}
