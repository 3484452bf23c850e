import Media
import Core

/// OpenEXR files of one channel `R` of half-precision numbers, compressed in blocks of 16 lines.
enum EXRFile {
  private static let linesOfBlock = 16

  static func bytes(_ values: [Float], width: Int, height: Int) throws -> [UInt8] {
    var file: [UInt8] = [0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0]
    let window =
      Bytes.of(Int32(0)) + Bytes.of(Int32(0)) + Bytes.of(Int32(width - 1))
      + Bytes.of(Int32(height - 1))
    let one = Bytes.of(Float(1).bitPattern)
    // Half precision is type 1; then linear, three reserved bytes, sampling in both directions.
    let channel =
      text("R") + Bytes.of(Int32(1)) + [0, 0, 0, 0] + Bytes.of(Int32(1)) + Bytes.of(Int32(1))
    file += attribute("channels", "chlist", channel + [0])
    file += attribute("compression", "compression", [3])
    file += attribute("dataWindow", "box2i", window)
    file += attribute("displayWindow", "box2i", window)
    file += attribute("lineOrder", "lineOrder", [0])
    file += attribute("pixelAspectRatio", "float", one)
    file += attribute("screenWindowCenter", "v2f", Bytes.of(UInt64(0)))
    file += attribute("screenWindowWidth", "float", one)
    file.append(0)
    var blocks: [[UInt8]] = []
    for top in stride(from: 0, to: height, by: linesOfBlock) {
      let bottom = min(height, top + linesOfBlock)
      let halves = values[top * width..<bottom * width].map { Float16($0).bitPattern }
      let raw = Bytes.of(halves)
      let packed = try DeflateEncoder.compress(predicted(raw), format: .zlib)
      // A block that does not shrink is stored as it is.
      let data = packed.count < raw.count ? packed : raw
      blocks.append(Bytes.of(Int32(top)) + Bytes.of(Int32(data.count)) + data)
    }
    var offset = file.count + 8 * blocks.count
    for block in blocks {
      file += Bytes.of(UInt64(offset))
      offset += block.count
    }
    return file + blocks.joined()
  }

  /// Even bytes, then odd ones, each as its difference to the one before.
  private static func predicted(_ raw: [UInt8]) -> [UInt8] {
    let halves =
      stride(from: 0, to: raw.count, by: 2).map { raw[$0] }
      + stride(from: 1, to: raw.count, by: 2).map { raw[$0] }
    return halves.indices.map {
      $0 == 0 ? halves[0] : halves[$0] &- halves[$0 - 1] &+ 128
    }
  }

  private static func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
    text(name) + text(type) + Bytes.of(Int32(value.count)) + value
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
}
