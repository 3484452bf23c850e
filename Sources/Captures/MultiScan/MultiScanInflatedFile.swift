import Codecs
import Storage

/// What the DEFLATE streams of one file inflate to, back to back.
///
/// The apps write one raw stream for the whole recording. Copies were re-encoded with a zlib or gzip
/// wrapper, and streams were appended to each other: each is recognized where it starts. Behind an end
/// mark only bytes that inflate count as a stream; others are `hasStrayBytes`.
///
/// Constant memory. Not for use by two threads at once.
final class MultiScanInflatedFile {
  /// The wrapper of the first stream; `raw` also for a file that holds none.
  private(set) var format: DeflateFormat
  /// Streams begun so far.
  private(set) var streams = 1
  /// Whether bytes behind the last end mark are no stream.
  private(set) var hasStrayBytes = false

  private let file: MappedFile
  private let frameBytes: Int
  private var stream: InflateStream
  private var currentFormat: DeflateFormat
  /// Whether the wrong checksum of the stream being read has been counted.
  private var isCounted = false

  /// `frameBytes` is what a piece behind an end mark must yield, or end before, to count as a stream.
  init(_ file: MappedFile, frameBytes: Int) {
    self.file = file
    self.frameBytes = frameBytes
    format = Self.firstFormat(of: file)
    currentFormat = format
    stream = InflateStream(file, range: 0..<file.count, format: format)
    file.willReadInOrder()
  }

  /// Whether the stream being read has no end mark: cut, or damaged in the middle. Known once `read`
  /// has returned less than asked for.
  var isCut: Bool {
    switch stream.state {
    case .open, .ended, .wrongChecksum: false
    case .truncated, .damaged: true
    }
  }
  /// Streams whose content is not what its checksum says.
  private(set) var wrongChecksums = 0

  /// Fills `output` with the next bytes, across the ends of streams. Returns how many: fewer than asked
  /// for only at the end of everything that inflates.
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

  private func goToNextStream() -> Bool {
    var offset = stream.inputOffset
    if stream.state == .wrongChecksum {
      if !isCounted { wrongChecksums += 1 }
      isCounted = true
      // zlib stops at the checksum; gzip has a length of four bytes behind it.
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
  /// The first stream's wrapper: gzip by its magic, zlib only where nothing comes out of the bytes as a
  /// raw stream, since that may begin like a zlib header.
  private static func firstFormat(of file: MappedFile) -> DeflateFormat {
    if isGzip(file, at: 0) { return .gzip }
    let asRaw = probe(file, at: 0, format: .raw, limit: 1)
    if asRaw.produced > 0 { return .raw }
    let asZlib = probe(file, at: 0, format: .zlib, limit: 1)
    return asZlib.produced > 0 || (asRaw.state != .ended && asZlib.state == .ended) ? .zlib : .raw
  }

  /// The wrapper of the stream at `offset`, or `nil` when there is none: damage before a whole frame came
  /// out, or nothing came out at all.
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

  /// Inflates up to `limit` bytes to nowhere.
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
