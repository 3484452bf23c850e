import Captures

/// Reads the records of a stream in sequence, by canonical frame.
package final class SequentialRecords<Pixel: BitwiseCopyable & Sendable> {
  private let stream: PictureStream<Pixel>
  private let reader: (any OrderedFrameReader<Pixel>)?
  private var record = 0

  init(_ stream: PictureStream<Pixel>) throws {
    self.stream = stream
    if case .ordered(let source) = stream.access {
      reader = try source.makeReader()
    } else {
      reader = nil
    }
  }

  /// The record of `frame`, which must not decrease between calls; `nil` outside the stream.
  package func read(frame: Int, into pixels: inout [Pixel]) throws -> RecordOutcome? {
    let wanted = frame - stream.firstFrame
    guard wanted >= record, wanted < stream.access.recordCount else { return nil }
    guard let reader else {
      record = wanted + 1
      guard case .indexed(let source) = stream.access else { return nil }
      return try source.decode(record: wanted, into: &pixels)
    }
    while record < wanted {
      guard try reader.next(into: &pixels) != nil else { return nil }
      record += 1
    }
    record += 1
    return try reader.next(into: &pixels)
  }
}
