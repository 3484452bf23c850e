import Media
import Core

/// The values of a `.depth` or `.conf` file: an LZFSE stream, or a raw copy of the values.
enum Record3DValues {
  /// Sizes by number of values, for recordings that do not state them: LiDAR, FaceID, FaceID of 2019.
  static let knownSizes = [(192, 256), (480, 640), (720, 960)].map {
    PictureSize(width: $0, height: $1)
  }

  private static let farthestMeters = Float(PlausibleValues.depthMillimeters.upperBound) / 1000

  typealias Finding = (issue: FrameIssue?, tooFar: Int)

  static func isStream(_ bytes: [UInt8]) -> Bool { LZFSE.isStream(bytes.span.bytes) }

  /// Passes `body` the values of a file, which must have exactly `count` bytes.
  static func decode<Result>(
    _ bytes: [UInt8], count: Int, _ scratch: ScratchBuffers,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(Record3DDamage) -> Result {
    guard isStream(bytes) else {
      guard bytes.count == count else {
        throw Record3DDamage(
          what: "neither an LZFSE stream nor \(count) bytes, but \(bytes.count) bytes")
      }
      return bytes.withUnsafeBytes(body)
    }
    let outcome: Swift.Result<Result, Record3DDamage> = scratch.withBuffer(byteCount: count) {
      buffer in
      var span = buffer.mutableSpan
      var output = span.mutableBytes
      do throws(LZFSEError) {
        try LZFSE.decode(bytes.span.bytes, into: &output)
      } catch {
        return .failure(Record3DDamage(byteOffset: error.byteOffset, what: error.what))
      }
      return .success(buffer.withUnsafeBytes(body))
    }
    return try outcome.get()
  }

  /// Meters as millimeters. NaN is no measurement and no damage.
  static func millimeters(
    _ meters: UnsafeRawBufferPointer, _ pixels: inout [UInt16]
  ) -> Finding {
    let count = meters.count / 4
    if pixels.count != count { pixels = [UInt16](repeating: 0, count: count) }
    var odd = 0
    var tooFar = 0
    for index in 0..<count {
      let bits = meters.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
      pixels[index] = millimeters(Float(bitPattern: UInt32(littleEndian: bits)), &odd, &tooFar)
    }
    return (issue(odd), tooFar)
  }

  /// Converts numbers in memory.
  static func millimeters(_ meters: [Float], _ pixels: inout [UInt16]) -> Finding {
    if pixels.count != meters.count { pixels = [UInt16](repeating: 0, count: meters.count) }
    var odd = 0
    var tooFar = 0
    for index in meters.indices { pixels[index] = millimeters(meters[index], &odd, &tooFar) }
    return (issue(odd), tooFar)
  }

  @inline(__always)
  private static func millimeters(
    _ meters: Float, _ odd: inout Int, _ tooFar: inout Int
  ) -> UInt16 {
    if meters < 0 || meters.isInfinite { odd += 1 }
    if meters > farthestMeters, meters.isFinite { tooFar += 1 }
    return Core.millimeters(fromMeters: Double(meters))
  }

  private static func issue(_ odd: Int) -> FrameIssue? {
    odd == 0
      ? nil
      : FrameIssue(
        code: .nonFiniteValue, message: "\(odd) values are infinite or negative, and count as none")
  }
}
