import Core

/// Depth frames as the apps store them and as a reader decodes them.
struct MultiScanDepth {
  let plan: MultiScanPlan
  /// Number of bytes of a frame that the stereo mode's compressor stores correctly.
  static let compressorBytes = 262_144

  /// One frame of the stream and the digest of its millimeters.
  func frame(_ number: Int, meters: [Float]) -> (bytes: [UInt8], digest: Digest) {
    var meters = meters
    if number == plan.nonFiniteFrame {
      for (index, value) in [Float.nan, .infinity, -.infinity, -0.5].enumerated() {
        meters[index * 7] = value
      }
    }
    if plan.generation == .androidARCore {
      let millimeters = meters.map { Core.millimeters(fromMeters: Double($0)) }
      let bytes = Bytes.of(millimeters)
      return (bytes, Digest(of: bytes))
    }
    let halves = meters.map { Float16($0) }
    var bytes = Bytes.of(halves.map(\.bitPattern))
    var millimeters = halves.map { Core.millimeters(fromMeters: Double($0)) }
    if plan.generation == .iosStereo { Self.spoil(&bytes, &millimeters) }
    return (bytes, Digest(of: Bytes.of(millimeters)))
  }

  /// Applies the stereo mode's defect: the second half of the first 256 KiB repeats to the end of
  /// the frame.
  private static func spoil(_ bytes: inout [UInt8], _ millimeters: inout [UInt16]) {
    guard bytes.count > compressorBytes else { return }
    let half = compressorBytes / 2
    for offset in compressorBytes..<bytes.count {
      bytes[offset] = bytes[half + (offset - compressorBytes) % half]
    }
    for pixel in (compressorBytes / 2)..<millimeters.count { millimeters[pixel] = 0 }
  }

  /// iOS counts 0…2, ARCore 0…255.
  func confidence(_ values: [UInt8]) -> [UInt8] {
    plan.generation == .androidARCore ? values.map { $0 &* 127 } : values
  }
}
