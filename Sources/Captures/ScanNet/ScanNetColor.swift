import Storage
import SystemPackage

/// The `.h264` file: a bare stream, whose pictures are counted without decoding them.
enum ScanNetColor {
  /// What is known of a stream before decoding.
  struct Facts: Sendable {
    var pictures: Int
    var width: Int?
    var height: Int?
    var clockwiseQuarterTurns = 0
  }

  static func facts(of file: FilePath) throws(CaptureError) -> Facts {
    let mapped: MappedFile
    do {
      mapped = try MappedFile(file)
    } catch {
      throw CaptureError(file: file, problem: error.reason, remedy: error.remedy)
    }
    let pictures = mapped.withBytes(countPictures)
    guard pictures > 0 else {
      throw CaptureError(
        file: file, record: 0, byteOffset: 0, problem: "no picture of a bare H.264 stream in it")
    }
    return Facts(pictures: pictures)
  }

  /// NAL units of type 1 and 5 whose first slice-header bit is 1 start a picture.
  private static func countPictures(_ bytes: RawSpan) -> Int {
    var count = 0
    var zeros = 0
    for index in 0..<max(0, bytes.byteCount - 2) {
      let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      if byte == 1, zeros >= 2 {
        let type = bytes.unsafeLoad(fromByteOffset: index + 1, as: UInt8.self) & 31
        let slice = bytes.unsafeLoad(fromByteOffset: index + 2, as: UInt8.self)
        if type == 1 || type == 5, slice >= 128 { count += 1 }
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return count
  }
}
