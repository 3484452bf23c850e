import CFFmpeg
import Core
import SystemPackage

/// A file that FFmpeg reads through this module's functions. Its name is never taken for a protocol
/// or a playlist, no other file is opened, and payload can be skipped.
final class MediaInput {
  let file: FilePath
  let byteCount: Int64
  /// If true, bytes are counted but not read: FFmpeg gets packets of the right size and time with
  /// undefined content. For containers whose index states everything else.
  var isHollow = false

  private let descriptor: FileDescriptor
  private var position: Int64 = 0

  init(_ file: FilePath) throws(VideoError) {
    self.file = file
    do {
      let descriptor = try EnclosedPaths.openForReading(file)
      do {
        byteCount = try descriptor.seek(offset: 0, from: .end)
      } catch {
        try? descriptor.close()
        throw error
      }
      self.descriptor = descriptor
    } catch {
      throw VideoError(
        file: file, what: "cannot be read: \(error)",
        remedy: "check that it exists and is readable",
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
  }

  deinit {
    try? descriptor.close()
  }

  /// Fills `buffer` from `offset` on as far as the file has bytes; 0 at its end.
  func read(
    at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VideoError) -> Int {
    var filled = 0
    do {
      while filled < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let step = try descriptor.read(fromAbsoluteOffset: offset + Int64(filled), into: rest)
        if step == 0 { break }
        filled += step
      }
    } catch {
      throw VideoError(
        file: file, what: "cannot be read: \(error)", byteOffset: offset + Int64(filled),
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
    return filled
  }

  /// Up to `count` bytes at `offset`, fewer at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(VideoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    do {
      filled = try bytes.withUnsafeMutableBytes { try read(at: offset, into: $0) }
    } catch let error as VideoError {
      throw error
    } catch {
      throw VideoError(file: file, what: "\(error)")
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// A context for `AVFormatContext.pb`, valid as long as this input; `nil` when out of memory.
  func makeContext() -> UnsafeMutablePointer<AVIOContext>? {
    let bufferBytes = 1 << 16
    guard let buffer = av_malloc(bufferBytes) else { return nil }
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(bufferBytes), 0,
      Unmanaged.passUnretained(self).toOpaque(),
      { opaque, buffer, count in
        guard let opaque, let buffer else { return scanmill_averror_eof() }
        return Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue()
          .next(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue()
          .seek(to: offset, whence: whence)
      })
    if context == nil { av_free(buffer) }
    return context
  }

  private func next(into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
    let available = max(0, byteCount - position)
    var count = Int(min(Int64(buffer.count), available))
    if !isHollow {
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      guard let filled = try? read(at: position, into: target) else {
        return scanmill_averror_errno(EIO)
      }
      count = filled
    }
    guard count > 0 else { return scanmill_averror_eof() }
    position += Int64(count)
    return Int32(count)
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    let target: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return byteCount
    case SEEK_SET: target = offset
    case SEEK_CUR: target = position &+ offset
    case SEEK_END: target = byteCount &+ offset
    default: return Int64(scanmill_averror_errno(EINVAL))
    }
    guard target >= 0 else { return Int64(scanmill_averror_errno(EINVAL)) }
    position = target
    return target
  }
}
