import Core
import SystemPackage

/// Damages a movie as killing the app does.
enum MovieDamage {
  /// Cuts an MP4 or QuickTime file before its index, which is written last.
  static func removeIndex(of path: FilePath) throws {
    let indexStart = try MappedFile(path).withBytes(startOfIndex)
    let file = try FileDescriptor.open(path, .writeOnly)
    try file.closeAfter { try file.resize(to: Int64(indexStart)) }
  }

  /// Where the index begins; the end of the file when there is none.
  private static func startOfIndex(_ bytes: RawSpan) -> Int {
    var offset = 0
    while let size = bytes.bigEndian(UInt32.self, at: offset),
      let type = bytes.bigEndian(UInt32.self, at: offset + 4)
    {
      // "moov"
      if type == 0x6d6f_6f76 { return offset }
      // A size of 1 means that a 64-bit size follows the type.
      let length = size == 1 ? bytes.bigEndian(UInt64.self, at: offset + 8) ?? 0 : UInt64(size)
      guard length >= 8, let step = Int(exactly: length), step <= bytes.byteCount - offset else {
        break
      }
      offset += step
    }
    return bytes.byteCount
  }
}
