import Media
import Core

/// The inflated content of the DEFLATE streams in one file, one after the other.
///
/// The apps write one raw stream for the whole recording. Copies were re-encoded with a zlib or
/// gzip wrapper, and streams were appended to each other: each wrapper is detected where a stream
/// starts. After an end mark only bytes that inflate count as a stream; others set `hasStrayBytes`.
///
/// Constant memory. Must not be used by two threads at once.
final class MultiScanInflatedFile {
  /// The wrapper of the first stream; `raw` also for a file without any.
  private(set) var format: DeflateFormat
  /// Number of streams begun so far.
  private(set) var streams = 1
  /// Whether bytes after the last end mark are not a stream.
  private(set) var hasStrayBytes = false

  private let file: MappedFile
  private let frameBytes: Int
  private var stream: InflateStream
  private var currentFormat: DeflateFormat
  /// Whether the wrong checksum of the current stream has been counted.
  private var isCounted = false

  /// A stream after an end mark counts only if it yields `frameBytes` bytes or ends before.
  init(_ file: MappedFile, frameBytes: Int) {
    self.file = file
    self.frameBytes = frameBytes
    format = Self.firstFormat(of: file)
    currentFormat = format
    stream = InflateStream(file, range: 0..<file.count, format: format)
    file.willReadInOrder()
  }

  /// Whether the current stream has no end mark: cut, or damaged inside. Known once `read` has
  /// returned less than requested.
  var isCut: Bool {
    switch stream.state {
    case .open, .ended, .wrongChecksum: false
    case .truncated, .damaged: true
    }
  }
  /// Number of streams whose checksum does not match their content.
  private(set) var wrongChecksums = 0

  /// Fills `output` with the next bytes, across the ends of streams. Returns how many; fewer than
  /// requested only at the end of all streams.
  func read(into output: inout MutableRawSpan) -> Int {
    output.withUnsafeMutableBytes { output in
      var filled = 0
      while filled < output.count {
        var rest = UnsafeMutableRawBufferPointer(rebasing: output[filled...]).mutableBytes
        filled += stream.read(into: &rest)
        if filled < output.count, !goToNextStream() { break }
      }
      return filled
    }
  }

  /// Fills an array; gives the number of bytes.
  func read<Element: BitwiseCopyable>(into output: inout [Element]) -> Int {
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    return read(into: &bytes)
  }

  private func goToNextStream() -> Bool {
    var offset = stream.inputOffset
    if stream.state == .wrongChecksum {
      if !isCounted { wrongChecksums += 1 }
      isCounted = true
      // zlib stops at the checksum, after which gzip has a length of four bytes.
      if currentFormat == .gzip, stream.stopsBeforeLength { offset += 4 }
    } else if stream.state != .ended {
      return false
    }
    guard offset < file.count else { return false }
    guard let next = Self.format(of: file, at: offset, frameBytes: frameBytes) else {
      hasStrayBytes = true
      return false
    }
    stream = InflateStream(file, range: offset..<file.count, format: next)
    (currentFormat, isCounted) = (next, false)
    streams += 1
    return true
  }
}

extension MultiScanInflatedFile {
  /// The first stream's wrapper: gzip by its magic number, zlib only if the bytes do not inflate as
  /// a raw stream, which may begin like a zlib header.
  private static func firstFormat(of file: MappedFile) -> DeflateFormat {
    if isGzip(file, at: 0) { return .gzip }
    let asRaw = probe(file, at: 0, format: .raw, limit: 1)
    if asRaw.produced > 0 { return .raw }
    let asZlib = probe(file, at: 0, format: .zlib, limit: 1)
    return asZlib.produced > 0 || (asRaw.state != .ended && asZlib.state == .ended) ? .zlib : .raw
  }

  /// The wrapper of the stream at `offset`; `nil` without one: nothing inflates, or damage comes
  /// before the first whole frame.
  private static func format(
    of file: MappedFile, at offset: Int, frameBytes: Int
  ) -> DeflateFormat? {
    let candidates: [DeflateFormat] = isGzip(file, at: offset) ? [.gzip] : [.raw, .zlib]
    return candidates.first { format in
      let (produced, state) = probe(file, at: offset, format: format, limit: frameBytes)
      return switch state {
      case .open, .ended: true
      case .wrongChecksum: produced >= frameBytes
      case .truncated: produced > 0
      case .damaged: produced >= frameBytes
      }
    }
  }

  /// Inflates up to `limit` bytes and discards them.
  private static func probe(
    _ file: MappedFile, at offset: Int, format: DeflateFormat, limit: Int
  ) -> (produced: Int, state: InflateStream.State) {
    let stream = InflateStream(file, range: offset..<file.count, format: format)
    var scratch: [UInt8] = []
    while stream.state == .open, stream.producedBytes < limit {
      _ = stream.read(into: &scratch, count: min(limit - stream.producedBytes, 65_536))
    }
    return (stream.producedBytes, stream.state)
  }

  private static func isGzip(_ file: MappedFile, at offset: Int) -> Bool {
    file.withBytes { $0.bigEndian(UInt16.self, at: offset) } == 0x1f8b
  }
}
