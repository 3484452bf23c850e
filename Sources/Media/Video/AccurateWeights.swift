/// The factors of a conversion, in 1/65536. They are constants, because only then are the products
/// vectorized as 16-bit ones. Luma is passed as 4 times, chroma as 16 times its value above black
/// or gray.
///
/// With the weights r and b of red and blue, g = 1 - r - b, and the steps s = 255/219 and c =
/// 255/224 (1 and 1 for full range): luma s/4; red from V 2(1 - r)c/16; green from U -2(1 -
/// b)(b/g)c/16 and from V -2(1 - r)(r/g)c/16; blue from U 2(1 - b)c/16.
protocol AccurateWeights {
  static var black: Int16 { get }
  static var luma: Int16 { get }
  static var redFromV: Int16 { get }
  static var greenFromU: Int16 { get }
  static var greenFromV: Int16 { get }
  static var blueFromU: Int16 { get }
}

enum BT601Limited: AccurateWeights {
  static var black: Int16 { 16 }
  static var luma: Int16 { 19_077 }
  static var redFromV: Int16 { 6537 }
  static var greenFromU: Int16 { -1605 }
  static var greenFromV: Int16 { -3330 }
  static var blueFromU: Int16 { 8263 }
}

enum BT601Full: AccurateWeights {
  static var black: Int16 { 0 }
  static var luma: Int16 { 16_384 }
  static var redFromV: Int16 { 5743 }
  static var greenFromU: Int16 { -1410 }
  static var greenFromV: Int16 { -2925 }
  static var blueFromU: Int16 { 7258 }
}

enum BT709Limited: AccurateWeights {
  static var black: Int16 { 16 }
  static var luma: Int16 { 19_077 }
  static var redFromV: Int16 { 7343 }
  static var greenFromU: Int16 { -873 }
  static var greenFromV: Int16 { -2183 }
  static var blueFromU: Int16 { 8652 }
}

enum BT709Full: AccurateWeights {
  static var black: Int16 { 0 }
  static var luma: Int16 { 16_384 }
  static var redFromV: Int16 { 6450 }
  static var greenFromU: Int16 { -767 }
  static var greenFromV: Int16 { -1917 }
  static var blueFromU: Int16 { 7601 }
}

enum FCCLimited: AccurateWeights {
  static var black: Int16 { 16 }
  static var luma: Int16 { 19_077 }
  static var redFromV: Int16 { 6528 }
  static var greenFromU: Int16 { -1547 }
  static var greenFromV: Int16 { -3319 }
  static var blueFromU: Int16 { 8300 }
}

enum FCCFull: AccurateWeights {
  static var black: Int16 { 0 }
  static var luma: Int16 { 16_384 }
  static var redFromV: Int16 { 5734 }
  static var greenFromU: Int16 { -1359 }
  static var greenFromV: Int16 { -2916 }
  static var blueFromU: Int16 { 7291 }
}

enum SMPTE240MLimited: AccurateWeights {
  static var black: Int16 { 16 }
  static var luma: Int16 { 19_077 }
  static var redFromV: Int16 { 7349 }
  static var greenFromU: Int16 { -1057 }
  static var greenFromV: Int16 { -2222 }
  static var blueFromU: Int16 { 8514 }
}

enum SMPTE240MFull: AccurateWeights {
  static var black: Int16 { 0 }
  static var luma: Int16 { 16_384 }
  static var redFromV: Int16 { 6455 }
  static var greenFromU: Int16 { -928 }
  static var greenFromV: Int16 { -1952 }
  static var blueFromU: Int16 { 7479 }
}

enum BT2020Limited: AccurateWeights {
  static var black: Int16 { 16 }
  static var luma: Int16 { 19_077 }
  static var redFromV: Int16 { 6876 }
  static var greenFromU: Int16 { -767 }
  static var greenFromV: Int16 { -2664 }
  static var blueFromU: Int16 { 8773 }
}

enum BT2020Full: AccurateWeights {
  static var black: Int16 { 0 }
  static var luma: Int16 { 16_384 }
  static var redFromV: Int16 { 6040 }
  static var greenFromU: Int16 { -674 }
  static var greenFromV: Int16 { -2340 }
  static var blueFromU: Int16 { 7706 }
}
