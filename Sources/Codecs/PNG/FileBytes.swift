import SystemPackage

/// Whole small files, such as one picture, as bytes.
enum FileBytes {
  /// All bytes of a regular file of at most 1 GiB.
  static func read(_ file: FilePath) throws(ImageError) -> [UInt8] {
    do {
      let descriptor = try FileDescriptor.open(file, .readOnly, options: .nonBlocking)
      return try descriptor.closeAfter {
        let size = try descriptor.seek(offset: 0, from: .end)
        guard size <= 1 << 30 else {
          throw ImageError(file: file, what: "\(size) bytes are too many for one picture")
        }
        let count = Int(size)
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
        file: file, what: "cannot be read: \(error)", remedy: "check that it exists and is readable"
      )
    }
  }
}
