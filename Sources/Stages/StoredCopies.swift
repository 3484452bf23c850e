import Captures
import Media
import Engine

/// The picture files of a stream that already are what a stage would write: gray PNG of the stream's
/// size. They are copied instead of encoded once more; what else a file holds is left out.
struct StoredCopies<Pixel: BitwiseCopyable & Sendable>: Sendable {
  private let source: any StoredFrameSource<Pixel>
  private let width: Int
  private let height: Int

  /// `nil` if the stream is not stored in files, or a compression is asked for that takes effort.
  init?(_ stream: PictureStream<Pixel>, _ compression: PNGCompression) {
    guard compression == .fast, case .indexed(let source) = stream.access,
      let stored = source as? any StoredFrameSource<Pixel>
    else { return nil }
    self.source = stored
    width = stream.width
    height = stream.height
  }

  /// The file to write for a record that is known to be readable; `nil` if it must be encoded.
  func file(record: Int) throws -> [UInt8]? {
    try source.storedFile(record: record).flatMap(bare)
  }

  /// Decodes a record, which finds all damage, and returns the file to write with it; `nil` if it
  /// must be encoded from `pixels`.
  func decode(
    record: Int, into pixels: inout [Pixel]
  ) throws -> (outcome: RecordOutcome, file: [UInt8]?) {
    guard let bytes = try source.storedFile(record: record) else {
      return (try source.decode(record: record, into: &pixels), nil)
    }
    let outcome = source.decode(bytes, record: record, into: &pixels)
    return (outcome, outcome.hasPicture ? bare(bytes) : nil)
  }

  private func bare(_ bytes: [UInt8]) -> [UInt8]? {
    switch MemoryLayout<Pixel>.size {
    case 1: PNGReader.bareGray8(bytes, width: width, height: height)
    case 2: PNGReader.bareGray16(bytes, width: width, height: height)
    default: nil
    }
  }
}
