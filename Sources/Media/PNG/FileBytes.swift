import Core
import SystemPackage

/// Reads whole small files, such as one picture.
enum FileBytes {
  /// All bytes of a regular file of at most `InputLimits.bytesOfPicture`.
  static func read(_ file: FilePath) throws(ImageError) -> [UInt8] {
    do {
      let descriptor = try EnclosedPaths.openForReading(file)
      return try descriptor.closeAfter {
        let size = try descriptor.seek(offset: 0, from: .end)
        let count = Int(clamping: size)
        if let problem = InputLimits.bytesOfPicture.problem(count) {
          throw ImageError(file: file, what: problem)
        }
        var filled = 0
        return try [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
          while filled < count {
            let rest = UnsafeMutableRawBufferPointer(
              rebasing: UnsafeMutableRawBufferPointer(bytes)[filled...])
            let step = try descriptor.read(fromAbsoluteOffset: Int64(filled), into: rest)
            if step == 0 { break }
            filled += step
            initialized = filled
          }
        }
      }
    } catch let error as ImageError {
      throw error
    } catch {
      throw ImageError(
        file: file, what: "cannot be read: \(error)",
        remedy: "check that it exists and is readable",
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
  }
}
