/// The same pseudorandom numbers on every machine (the mixer of splitmix64).
struct Noise {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z &>> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z &>> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z &>> 31
  }

  /// About normally distributed: the sum of four bytes, standard deviation 148, mean 0.
  mutating func wide() -> Int {
    let word = next()
    return Int(word & 255) + Int(word &>> 8 & 255) + Int(word &>> 16 & 255)
      + Int(word &>> 24 & 255) - 510
  }
}
