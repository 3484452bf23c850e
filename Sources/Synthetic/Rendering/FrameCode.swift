/// Encodes a number in a picture so that it survives video compression: sixteen adjacent blocks
/// fill the top eighth, white = 1, black = 0, the most significant bit on the left.
public enum FrameCode {
  static let bits = 16

  /// A description of how to read the number.
  static let howToRead =
    "sixteen blocks side by side fill the top eighth of the picture; block k (0 = left) covers columns floor(k*W/16) to floor((k+1)*W/16)-1; white = 1, black = 0, most significant bit left; read the middle of each block, threshold 128; the number is the capture index that the picture was made for"

  /// `number` is taken modulo 65,536; `rgb` holds whole rows of `width` pixels.
  static func draw(_ number: Int, into rgb: inout [UInt8], width: Int) {
    guard width >= bits else { return }
    let height = rgb.count / (3 * width)
    for row in 0..<(height / 8) {
      for block in 0..<bits {
        let value: UInt8 = number >> (bits - 1 - block) & 1 == 1 ? 255 : 0
        for column in (block * width / bits)..<((block + 1) * width / bits) {
          for channel in 0..<3 { rgb[(row * width + column) * 3 + channel] = value }
        }
      }
    }
  }

  /// The number in a picture of `width` pixels a row.
  public static func read(rgb: [UInt8], width: Int) -> Int {
    guard width >= bits else { return 0 }
    let row = rgb.count / (3 * width) / 16
    return (0..<bits).reduce(0) { number, block in
      let column = (block * width / bits + (block + 1) * width / bits) / 2
      return number << 1 | (rgb[(row * width + column) * 3 + 1] >= 128 ? 1 : 0)
    }
  }
}
