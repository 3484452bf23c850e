import Captures

/// Some records of a depth stream as a stream: record k is the k-th chosen one.
enum ChosenRecords {
  /// - Parameter frames: canonical indices, ascending, each with a record.
  static func of(_ stream: DepthStream, _ frames: [Int]) -> DepthStream {
    let records = frames.map { $0 - stream.firstFrame }
    var chosen = stream
    chosen.firstFrame = 0
    switch stream.access {
    case .indexed(let source): chosen.access = .indexed(Indexed(source: source, records: records))
    case .ordered(let source): chosen.access = .ordered(Ordered(source: source, records: records))
    }
    return chosen
  }

  private struct Indexed: IndexedFrameSource {
    let source: any IndexedFrameSource<UInt16>
    let records: [Int]

    var recordCount: Int { records.count }

    func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
      try source.decode(record: records[record], into: &pixels)
    }
  }

  /// Reads and discards the records in between.
  private struct Ordered: OrderedFrameSource {
    let source: any OrderedFrameSource<UInt16>
    let records: [Int]

    var recordCount: Int { records.count }

    func makeReader() throws -> any OrderedFrameReader<UInt16> {
      Reader(try source.makeReader(), records)
    }
  }

  private final class Reader: OrderedFrameReader {
    private let reader: any OrderedFrameReader<UInt16>
    private let records: [Int]
    /// Index of the next record in `records`.
    private var position = 0
    /// Index of the next record of `reader`.
    private var record = 0

    init(_ reader: any OrderedFrameReader<UInt16>, _ records: [Int]) {
      self.reader = reader
      self.records = records
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard position < records.count else { return nil }
      let wanted = records[position]
      position += 1
      while record < wanted {
        guard try reader.next(into: &pixels) != nil else { return nil }
        record += 1
      }
      record += 1
      return try reader.next(into: &pixels)
    }
  }
}
