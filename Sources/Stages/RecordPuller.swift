import Captures
import Synchronization

/// Delivers the records of a picture stream one by one: for an indexed stream only the number,
/// which the worker then decodes; for an ordered one the decoded record.
final class RecordPuller<Pixel: BitwiseCopyable & Sendable>: Sendable {
  struct Pulled: Sendable {
    var record: Int
    /// Set when the record is already decoded.
    var outcome: RecordOutcome?
  }

  private struct State {
    var next = 0
    var reader: ReaderHandle?
  }

  /// A reader that is used only under the puller's lock.
  private final class ReaderHandle: @unchecked Sendable {
    let reader: any OrderedFrameReader<Pixel>
    init(_ reader: any OrderedFrameReader<Pixel>) { self.reader = reader }
  }

  private let access: FrameAccess<Pixel>
  private let state = Mutex(State())

  init(_ access: FrameAccess<Pixel>) {
    self.access = access
  }

  /// Opens an ordered stream at its first record.
  func open() throws {
    guard case .ordered(let source) = access else { return }
    let box = ReaderHandle(try source.makeReader())
    state.withLock { $0.reader = box }
  }

  /// The next record, decoded into `pixels` if the stream is ordered; `nil` after the last.
  func next(into pixels: inout [Pixel]) throws -> Pulled? {
    try state.withLock { state in
      let record = state.next
      guard record < access.recordCount else { return nil }
      state.next += 1
      guard let reader = state.reader?.reader else { return Pulled(record: record) }
      guard let outcome = try reader.next(into: &pixels) else { return nil }
      return Pulled(record: record, outcome: outcome)
    }
  }

  /// Decodes a record of which `next` has only returned the number.
  func decode(_ pulled: Pulled, into pixels: inout [Pixel]) throws -> RecordOutcome {
    if let outcome = pulled.outcome { return outcome }
    guard case .indexed(let source) = access else { return RecordOutcome(hasPicture: false) }
    return try source.decode(record: pulled.record, into: &pixels)
  }
}
