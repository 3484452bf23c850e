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
