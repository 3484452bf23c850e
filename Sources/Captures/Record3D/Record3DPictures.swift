import Media
import Core
import SystemPackage

/// Depth or confidence, one file per picture: record k is the file with number k. A number without a
/// file is a record without picture, which costs nothing.
struct Record3DPictures<Pixel: BitwiseCopyable & Sendable>: IndexedFrameSource {
  /// Makes the pixels of the bytes of a file; `tooFar` as in `RecordOutcome`. Throws for damage.
  typealias Decoder =
    @Sendable ([UInt8], inout [Pixel]) throws(Record3DDamage) -> Record3DValues.Finding

  let stored: Record3DPictureFiles
  let width: Int
  let height: Int
  let encoding: String
  private let decoder: Decoder
  /// Index in `stored` by number; -1 without file.
  private let indices: [Int32]

  init(
    _ stored: Record3DPictureFiles, width: Int, height: Int, encoding: String,
    decoder: @escaping Decoder
  ) {
    self.stored = stored
    (self.width, self.height, self.encoding) = (width, height, encoding)
    self.decoder = decoder
    let files = stored.files.files
    var indices = [Int32](repeating: -1, count: (files.last?.number ?? -1) + 1)
    for (index, file) in files.enumerated() { indices[file.number] = Int32(clamping: index) }
    self.indices = indices
  }

  var recordCount: Int { indices.count + stored.files.unbelieved.count }

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    guard record >= 0, record < recordCount else {
      throw CaptureError(
        file: stored.entries.path(of: stored.folder), record: record, problem: "no such record")
    }
    let index =
      record < indices.count
      ? Int(indices[record]) : stored.files.files.count + record - indices.count
    guard index >= 0 else { return RecordOutcome(hasPicture: false) }
    let name = stored.name(of: index)
    let bytes: [UInt8]
    switch try stored.bytes(of: index) {
    case .none(let issue): return RecordOutcome(hasPicture: false, issue: issue)
    case .bytes(let found): bytes = found
    }
    if bytes.isEmpty { return .hole(.emptyRecord, "\(name): 0 bytes") }
    do throws(Record3DDamage) {
      let found = try decoder(bytes, &pixels)
      return RecordOutcome(
        hasPicture: true,
        issue: found.issue.map { FrameIssue(code: $0.code, message: "\(name): \($0.message)") },
        tooFar: found.tooFar)
    } catch {
      return .hole(error.code, "\(name)\(error.place): \(error.what)")
    }
  }
}

/// Why a file has no picture.
struct Record3DDamage: Error {
  var code = WarningCode.corruptRecord
  var byteOffset: Int?
  var what: String

  var place: String { byteOffset.map { ", byte \($0)" } ?? "" }
}
