import CFFmpeg
import SystemPackage

/// A file that FFmpeg writes through this module's functions: to an open descriptor, never by name.
final class MediaOutput {
  private let file: FileDescriptor
  private var position: Int64 = 0
  private var byteCount: Int64 = 0
  /// The error of a failed write, which FFmpeg does not report in detail.
  private(set) var failure: Errno?

  private static let bufferBytes = 1 << 18

  /// `file` must be empty; the caller closes it.
  init(_ file: FileDescriptor) {
    self.file = file
  }

  /// A context for `AVFormatContext.pb`, valid as long as this output; `nil` when out of memory.
  func makeContext() -> UnsafeMutablePointer<AVIOContext>? {
    guard let buffer = av_malloc(Self.bufferBytes) else { return nil }
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferBytes), 1,
      Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, bytes, count in
        guard let opaque, let bytes else { return scanmill_averror_errno(EINVAL) }
        return Unmanaged<MediaOutput>.fromOpaque(opaque).takeUnretainedValue()
          .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      },
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<MediaOutput>.fromOpaque(opaque).takeUnretainedValue()
          .seek(to: offset, whence: whence)
      })
    if context == nil { av_free(buffer) }
    return context
  }

  static func free(_ context: UnsafeMutablePointer<AVIOContext>?) {
    guard let context else { return }
    av_free(context.pointee.buffer)
    var own: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&own)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    do {
      try file.writeAll(toAbsoluteOffset: position, bytes)
    } catch {
      failure = error as? Errno ?? .ioError
      return scanmill_averror_errno(failure?.rawValue ?? EIO)
    }
    position += Int64(bytes.count)
    byteCount = max(byteCount, position)
    return Int32(bytes.count)
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return byteCount
    case SEEK_SET: position = offset
    case SEEK_CUR: position &+= offset
    case SEEK_END: position = byteCount &+ offset
    default: return Int64(scanmill_averror_errno(EINVAL))
    }
    return position
  }
}
