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

  /// Red, green and blue as the low three bytes of a word per pixel.
  @inline(never) static func combine<Weights: AccurateWeights>(
    _: Weights.Type, _ luma: UnsafePointer<UInt8>, _ u: UnsafePointer<Int16>,
    _ v: UnsafePointer<Int16>, _ count: Int, _ words: UnsafeMutablePointer<UInt32>
  ) {
    var x = 0
    while x < count {
      let y = Int32((Int16(luma[x]) &- Weights.black) &<< 2)
      let cu = Int32(u[x])
      let cv = Int32(v[x])
      let base = y &* Int32(Weights.luma) &+ 32_768
      let red = clamped(base &+ cv &* Int32(Weights.redFromV))
      let green = clamped(
        base &+ cu &* Int32(Weights.greenFromU) &+ cv &* Int32(Weights.greenFromV))
      let blue = clamped(base &+ cu &* Int32(Weights.blueFromU))
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
