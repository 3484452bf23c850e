import Core
import Media

/// Encodes depth and confidence of one frame.
extension Synthesis<Record3DFamily> {
  /// What the app stores: NaN where nothing was measured, as above 4.5 m.
  func stored(_ measured: [Float], frame: Int) -> [Float] {
    var meters = measured.map { $0 > 4.5 ? Float.nan : $0 }
    if frame == plan.nonFiniteFrame {
      let odd: [Float] = [Float.infinity, -Float.infinity, -0.5]
      for (index, value) in odd.enumerated() {
        meters[index * 7] = value
      }
    }
    return plan.form == .exr ? meters.map { Float(Float16($0)) } : meters
  }

  /// The file of a depth picture; `nil` if none is written.
  func depthFile(_ meters: [Float], _ edit: PictureEdit?) throws -> [UInt8]? {
    let (width, height) = rig.depth.size
    return try edit.file {
      try whole(meters, width: width, height: height)
    } otherSize: {
      try whole(
        GrayPictureFiles.halved(meters, width: width), width: width / 2, height: height / 2)
    }
  }

  /// The file of a confidence picture; `nil` if none is written.
  func confidenceFile(_ values: [UInt8], _ edit: PictureEdit?) -> [UInt8]? {
    switch edit {
    case nil: return packed(values)
    case .absent: return nil
    case .empty: return []
    case .cut, .otherKind: return Array(packed(values).prefix(values.count / 2))
    case .otherSize: return packed(GrayPictureFiles.halved(values, width: rig.depth.width))
    }
  }

  private func whole(_ meters: [Float], width: Int, height: Int) throws -> [UInt8] {
    if plan.form == .exr { return try EXRFile.bytes(meters, width: width, height: height) }
    return packed(meters.flatMap { Bytes.of($0.bitPattern) })
  }

  /// An LZFSE stream of one block without compression, as the reference encoder writes for what does
  /// not shrink.
  private func packed(_ bytes: [UInt8]) -> [UInt8] {
    plan.isRaw
      ? bytes
      : Array("bvx-".utf8) + Bytes.of(UInt32(bytes.count)) + bytes + Array("bvx$".utf8)
  }
}

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
