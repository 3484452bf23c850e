import CFFmpeg

/// The loops over one row, written so that they are vectorized for plain x86-64: 16-bit factors,
/// 32-bit sums, no branches. They are separate functions because a merged one is a quarter slower.
enum AccurateKernels {
  /// Four times the chroma between two rows: `near` × `weight` + `far` × (4 - `weight`), from
  /// `sums[1]` on, with the edges repeated before and after. Samples are `step` bytes apart.
  @inline(never) static func sumRows(
    _ near: UnsafePointer<UInt8>, _ far: UnsafePointer<UInt8>, _ step: Int, _ weight: Int16,
    _ count: Int, _ sums: UnsafeMutablePointer<Int16>
  ) {
    let out = sums + 1
    let farWeight = 4 &- weight
    var k = 0
    if step == 1 {
      while k < count {
        out[k] = Int16(near[k]) &* weight &+ Int16(far[k]) &* farWeight
        k &+= 1
      }
    } else {
      while k < count {
        out[k] = Int16(near[2 &* k]) &* weight &+ Int16(far[2 &* k]) &* farWeight
        k &+= 1
      }
    }
    sums[0] = sums[1]
    sums[count &+ 1] = sums[count]
  }

  /// Sixteen times the chroma at every column, less 16 × 128, two columns in a word. `sums` begins with the
  /// repeated edge.
  @inline(never) static func widen(
    _ sums: UnsafePointer<Int16>, _ count: Int, _ isBetweenColumns: Bool,
    _ wide: UnsafeMutablePointer<UInt32>
  ) {
    let before = sums
    let here = sums + 1
    let after = sums + 2
    var k = 0
    if isBetweenColumns {
      while k < count {
        let triple = 3 &* here[k] &- 2048
        wide[k] = pair(triple &+ before[k], triple &+ after[k])
        k &+= 1
      }
    } else {
      while k < count {
        wide[k] = pair(4 &* here[k] &- 2048, 2 &* (here[k] &+ after[k]) &- 2048)
        k &+= 1
      }
    }
  }

  /// Loads two values as one word.
  @inline(__always)
  private static func pair(_ first: Int16, _ second: Int16) -> UInt32 {
    let low = UInt32(UInt16(bitPattern: first))
    return (low | UInt32(UInt16(bitPattern: second)) &<< 16).littleEndian
  }

  /// Red, green and blue as the low three bytes of a word per pixel. `matrix` is one of FFmpeg's
  /// `SWS_CS_…`.
  @inline(never) static func combine(
    _ matrix: Int32, isFull: Bool, _ luma: UnsafePointer<UInt8>, _ u: UnsafePointer<Int16>,
    _ v: UnsafePointer<Int16>, _ count: Int, _ words: UnsafeMutablePointer<UInt32>
  ) {
    @inline(__always) func combine(_ weights: AccurateWeights) {
      Self.combine(weights, luma, u, v, count, words)
    }
    switch (matrix, isFull) {
    case (SWS_CS_ITU709, false): combine(.bt709Limited)
    case (SWS_CS_ITU709, true): combine(.bt709Full)
    case (SWS_CS_FCC, false): combine(.fccLimited)
    case (SWS_CS_FCC, true): combine(.fccFull)
    case (SWS_CS_SMPTE240M, false): combine(.smpte240mLimited)
    case (SWS_CS_SMPTE240M, true): combine(.smpte240mFull)
    case (SWS_CS_BT2020, false), (ColorTags.bt2020Constant, false): combine(.bt2020Limited)
    case (SWS_CS_BT2020, true), (ColorTags.bt2020Constant, true): combine(.bt2020Full)
    case (_, false): combine(.bt601Limited)
    case (_, true): combine(.bt601Full)
    }
  }

  @inline(__always)
  private static func combine(
    _ weights: AccurateWeights, _ luma: UnsafePointer<UInt8>, _ u: UnsafePointer<Int16>,
    _ v: UnsafePointer<Int16>, _ count: Int, _ words: UnsafeMutablePointer<UInt32>
  ) {
    var x = 0
    while x < count {
      let y = Int32((Int16(luma[x]) &- weights.black) &<< 2)
      let cu = Int32(u[x])
      let cv = Int32(v[x])
      let base = y &* Int32(weights.luma) &+ 32_768
      let red = clamped(base &+ cv &* Int32(weights.redFromV))
      let green = clamped(
        base &+ cu &* Int32(weights.greenFromU) &+ cv &* Int32(weights.greenFromV))
      let blue = clamped(base &+ cu &* Int32(weights.blueFromU))
      words[x] = UInt32(red | green &<< 8) | UInt32(blue) &<< 16
      x &+= 1
    }
  }

  /// The whole part of a sum in 1/65536, clamped to 0…255.
  @inline(__always)
  private static func clamped(_ sum: Int32) -> UInt16 {
    let value = Int16(truncatingIfNeeded: sum &>> 16)
    let low = value > 255 ? 255 : value
    return UInt16(truncatingIfNeeded: low > 0 ? low : 0)
  }

  /// Packs three bytes of each word, four words at a time.
  @inline(never) static func pack(
    _ words: UnsafePointer<UInt32>, _ count: Int, _ rgb: UnsafeMutableRawPointer
  ) {
    let raw = UnsafeRawPointer(words)
    var x = 0
    while x &+ 4 <= count {
      let first = pairBytes(raw.loadUnaligned(fromByteOffset: 4 &* x, as: UInt64.self))
      let second = pairBytes(raw.loadUnaligned(fromByteOffset: 4 &* x &+ 8, as: UInt64.self))
      rgb.storeBytes(
        of: (first | second &<< 48).littleEndian, toByteOffset: 3 &* x, as: UInt64.self)
      rgb.storeBytes(
        of: UInt32(truncatingIfNeeded: second &>> 16).littleEndian, toByteOffset: 3 &* x &+ 8,
        as: UInt32.self)
      x &+= 4
    }
    while x < count {
      let word = words[x]
      for byte in 0..<3 {
        rgb.storeBytes(
          of: UInt8(truncatingIfNeeded: word &>> UInt32(8 &* byte)),
          toByteOffset: 3 &* x &+ byte, as: UInt8.self)
      }
      x &+= 1
    }
  }

  /// The six color bytes of two words.
  @inline(__always)
  private static func pairBytes(_ memory: UInt64) -> UInt64 {
    let words = UInt64(littleEndian: memory)
    return words & 0xff_ffff | words &>> 8 & 0xffff_ff00_0000
  }
}

/// The factors of a conversion, in 1/65536. They are constants where they are used, because only then are the
/// products vectorized as 16-bit ones. Luma is passed as 4 times, chroma as 16 times its value above black
/// or gray.
///
/// With the weights r and b of red and blue, g = 1 - r - b, and the steps s = 255/219 and c =
/// 255/224 (1 and 1 for full range): luma s/4; red from V 2(1 - r)c/16; green from U -2(1 -
/// b)(b/g)c/16 and from V -2(1 - r)(r/g)c/16; blue from U 2(1 - b)c/16.
struct AccurateWeights {
  var black: Int16
  var luma: Int16
  var redFromV: Int16
  var greenFromU: Int16
  var greenFromV: Int16
  var blueFromU: Int16

  @inline(__always)
  private init(
    _ black: Int16, _ luma: Int16, _ redFromV: Int16, _ greenFromU: Int16, _ greenFromV: Int16,
    _ blueFromU: Int16
  ) {
    (self.black, self.luma, self.redFromV) = (black, luma, redFromV)
    (self.greenFromU, self.greenFromV, self.blueFromU) = (greenFromU, greenFromV, blueFromU)
  }

  @inline(__always) static var bt601Limited: Self { Self(16, 19_077, 6537, -1605, -3330, 8263) }
  @inline(__always) static var bt601Full: Self { Self(0, 16_384, 5743, -1410, -2925, 7258) }
  @inline(__always) static var bt709Limited: Self { Self(16, 19_077, 7343, -873, -2183, 8652) }
  @inline(__always) static var bt709Full: Self { Self(0, 16_384, 6450, -767, -1917, 7601) }
  @inline(__always) static var fccLimited: Self { Self(16, 19_077, 6528, -1547, -3319, 8300) }
  @inline(__always) static var fccFull: Self { Self(0, 16_384, 5734, -1359, -2916, 7291) }
  @inline(__always) static var smpte240mLimited: Self { Self(16, 19_077, 7349, -1057, -2222, 8514) }
  @inline(__always) static var smpte240mFull: Self { Self(0, 16_384, 6455, -928, -1952, 7479) }
  @inline(__always) static var bt2020Limited: Self { Self(16, 19_077, 6876, -767, -2664, 8773) }
  @inline(__always) static var bt2020Full: Self { Self(0, 16_384, 6040, -674, -2340, 7706) }
}
