import Media
import Core

/// Encodes depth and confidence of one frame, and tells what a reader makes of them.
struct RecordDepthFile {
  let plan: RecordPlan
  let width: Int
  let height: Int
  /// Distances above have no measurement, meters.
  private static let longestRange: Float = 4.5

  /// What the app stores: NaN where nothing was measured.
  func stored(_ measured: [Float], frame: Int) -> [Float] {
    var meters = measured.map { $0 > Self.longestRange ? Float.nan : $0 }
    if frame == plan.nonFiniteFrame {
      let odd: [Float] = [Float.infinity, -Float.infinity, -0.5]
      for (index, value) in odd.enumerated() {
        meters[index * 7] = value
      }
    }
    return plan.form == .exr ? meters.map { Float(Float16($0)) } : meters
  }

  func millimeters(_ meters: [Float]) -> [UInt16] {
    meters.map { Core.millimeters(fromMeters: Double($0)) }
  }

  /// The file of a depth picture; `nil` if none is written.
  func depth(_ meters: [Float], _ edit: PictureEdit?) throws -> [UInt8]? {
    switch edit {
    case nil: return try whole(meters, width: width, height: height)
    case .absent: return nil
    case .empty: return []
    case .cut, .otherKind:
      let file = try whole(meters, width: width, height: height)
      return Array(file.prefix(file.count / 2))
    case .otherSize:
      return try whole(
        GrayPictureFiles.halved(meters, width: width), width: width / 2, height: height / 2)
    }
  }

  /// The file of a confidence picture; `nil` if none is written.
  func confidence(_ values: [UInt8], _ edit: PictureEdit?) -> [UInt8]? {
    switch edit {
    case nil: return packed(values)
    case .absent: return nil
    case .empty: return []
    case .cut, .otherKind: return Array(packed(values).prefix(values.count / 2))
    case .otherSize: return packed(GrayPictureFiles.halved(values, width: width))
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
