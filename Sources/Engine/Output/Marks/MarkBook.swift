import Captures
import Core
import SystemPackage

/// The marks of an output. Everything that asks whether a capture is marked asks here: status, report, pages, the
/// watcher and `run`.
public struct MarkBook: Sendable {
  private let byLocation: [CaptureLocation: MarkRecord]
  /// Marks of captures whose place is not known.
  private let byID: [String: MarkRecord]
  /// Marks that stand in no folder of a capture, by id.
  public let records: [MarkRecord]

  /// Cost: one small file.
  public init(ofOutput root: FilePath) {
    records = MarkTable(ofOutput: root).marks
    byLocation = Dictionary(
      records.compactMap { record in record.location.map { ($0, record) } }
    ) { _, last in last }
    byID = Dictionary(records.filter { $0.folder == nil }.map { ($0.id, $0) }) { _, last in last }
  }

  /// What is noted of a capture, whether it counts or not. Cost: one system call.
  ///
  /// - Parameters:
  ///   - layout: its folder in the output, which need not exist.
  ///   - location: where it lies, without links.
  ///   - isUnmarked: whether it is known that its own folder has no mark; it is not looked at then.
  public func record(
    of layout: OutputLayout?, at location: CaptureLocation?, isUnmarked: Bool = false
  ) -> MarkRecord? {
    if !isUnmarked, let layout, let own = MarkRecord(of: layout) { return own }
    if let location, let found = byLocation[location] { return found }
    return layout.flatMap { byID[$0.name] }
  }

  /// The mark of a capture and whether it counts; `nil`: it has none.
  public func mark(
    of layout: OutputLayout?, at location: CaptureLocation?, isUnmarked: Bool = false,
    nowNanoseconds: Int64 = FileStamp.nowNanoseconds()
  ) -> CaptureMark? {
    record(of: layout, at: location, isUnmarked: isUnmarked).map {
      CaptureMark($0, nowNanoseconds: nowNanoseconds)
    }
  }

  /// Retired captures whose mark counts.
  func retired(nowNanoseconds: Int64 = FileStamp.nowNanoseconds()) -> [(
    record: MarkRecord, mark: CaptureMark
  )] {
    records.compactMap { record in
      guard record.mark == .retire else { return nil }
      let mark = CaptureMark(record, nowNanoseconds: nowNanoseconds)
      return mark.isRetired ? (record, mark) : nil
    }
  }
}
