import CFFmpeg

/// The factors of a conversion, in 1/65536; chroma comes as 16 times its value.
struct AccurateWeights {
  var black: Int16
  /// What a step of luma counts beyond 1.
  var luma: Int16
  var redFromV: Int16
  var greenFromU: Int16
  var greenFromV: Int16
  var blueFromU: Int16

  init(_ tags: ColorTags, isFullRange: Bool) {
    let (red, blue) = tags.lumaWeights
    let green = 1 - red - blue
    let lumaStep = isFullRange ? 1 : 255.0 / 219
    let chromaStep = (isFullRange ? 1 : 255.0 / 224) * 65_536 / 16
    func rounded(_ value: Double) -> Int16 { Int16(value.rounded()) }
    black = isFullRange ? 0 : 16
    luma = rounded((lumaStep - 1) * 65_536)
    redFromV = rounded(2 * (1 - red) * chromaStep)
    greenFromU = rounded(-2 * (1 - blue) * blue / green * chromaStep)
    greenFromV = rounded(-2 * (1 - red) * red / green * chromaStep)
    blueFromU = rounded(2 * (1 - blue) * chromaStep)
  }
}

/// The loops over one row, written so that they are vectorized for plain x86-64: 16-bit factors, 32-bit
/// products, no branches.
enum AccurateKernels {
  /// Four times the chroma of a row between two rows: `near` × `weight` + `far` × (4 - `weight`), from
  /// `sums[1]` on, with the edges repeated before and after.
  static func sumRows(
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

  /// Sixteen times the chroma at every column, less 16 × 128. `sums` begins with the repeated edge;
  /// `wide` has room for 2 × `count`.
  static func widen(
    _ sums: UnsafePointer<Int16>, _ count: Int, _ isBetweenColumns: Bool,
    _ wide: UnsafeMutablePointer<Int16>
  ) {
    let before = sums
    let here = sums + 1
    let after = sums + 2
    var k = 0
    if isBetweenColumns {
      while k < count {
        let triple = 3 &* here[k] &- 2048
        wide[2 &* k] = triple &+ before[k]
        wide[2 &* k &+ 1] = triple &+ after[k]
        k &+= 1
      }
    } else {
      while k < count {
        wide[2 &* k] = 4 &* here[k] &- 2048
        wide[2 &* k &+ 1] = 2 &* (here[k] &+ after[k]) &- 2048
        k &+= 1
      }
    }
  }

  /// Red, green and blue as the low three bytes of a word per pixel.
  static func combine(
    _ luma: UnsafePointer<UInt8>, _ u: UnsafePointer<Int16>, _ v: UnsafePointer<Int16>,
    _ count: Int, _ weights: AccurateWeights, _ words: UnsafeMutablePointer<UInt32>
  ) {
    let black = weights.black
    let lumaWeight = Int32(weights.luma)
    let redFromV = Int32(weights.redFromV)
    let greenFromU = Int32(weights.greenFromU)
    let greenFromV = Int32(weights.greenFromV)
    let blueFromU = Int32(weights.blueFromU)
    var x = 0
    while x < count {
      let y = Int32(Int16(luma[x]) &- black)
      let cu = Int32(u[x])
      let cv = Int32(v[x])
      let base = y &* lumaWeight &+ y &<< 16 &+ 32_768
      let red = clamped((base &+ cv &* redFromV) &>> 16)
      let green = clamped((base &+ cu &* greenFromU &+ cv &* greenFromV) &>> 16)
      let blue = clamped((base &+ cu &* blueFromU) &>> 16)
      words[x] = red | green &<< 8 | blue &<< 16
      x &+= 1
    }
  }

  /// Three bytes of each word, two words at a time. Up to two bytes beyond the row are overwritten, but not
  /// of the last row; `words` has two more than `count`.
  static func pack(
    _ words: UnsafePointer<UInt32>, _ count: Int, _ rgb: UnsafeMutableRawPointer, isLast: Bool
  ) {
    let raw = UnsafeRawPointer(words)
    let whole = isLast ? count &- 3 : count &- 1
    var x = 0
    while x < whole {
      let pair = UInt64(
        littleEndian: raw.loadUnaligned(fromByteOffset: 4 &* x, as: UInt64.self))
      let packed = pair & 0xff_ffff | pair &>> 8 & 0xffff_ff00_0000
      rgb.storeBytes(of: packed.littleEndian, toByteOffset: 3 &* x, as: UInt64.self)
      x &+= 2
    }
    while x < count {
      let word = words[x]
      rgb.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: 3 &* x, as: UInt8.self)
      rgb.storeBytes(
        of: UInt8(truncatingIfNeeded: word &>> 8), toByteOffset: 3 &* x &+ 1, as: UInt8.self)
      rgb.storeBytes(
        of: UInt8(truncatingIfNeeded: word &>> 16), toByteOffset: 3 &* x &+ 2, as: UInt8.self)
      x &+= 1
    }
  }

  @inline(__always)
  private static func clamped(_ value: Int32) -> UInt32 {
    let low = value < 0 ? 0 : value
    return UInt32(truncatingIfNeeded: low > 255 ? 255 : low)
  }
}
