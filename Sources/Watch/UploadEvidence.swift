import Captures
import Engine
import Core
import SystemPackage

/// What can be told about the uploads of captures by one look: for verbs that look once and do not wait.
public struct UploadEvidence: Sendable, Hashable {
  /// An upload server has something of it on its way, or a transfer's temporary file lies in it.
  public var isArriving = false
  /// The sender or an upload server says that everything is there; the rule of the family is not asked.
  public var isComplete = false
  /// Files that an upload server waits for.
  public var waitsFor: [String] = []
  /// Why the notes of the upload server are not used, with the file; `nil`: they are, or there are none.
  public var problem: String?
  /// Id of the capture that had its id first, with other content.
  public var twinOf: String?
  /// Another version of one of its files that a synchronizer has kept, relative to its folder.
  public var conflict: String?

  /// Evidence of an upload of which nothing is known.
  public init() {}

  /// Cost: the notes of an upload server and a listing per capture, and a system call per file.
  public static func of(
    _ captures: [Recognition]
  ) throws(FileError) -> [CaptureLocation: UploadEvidence] {
    let inFolder = Dictionary(grouping: captures, by: \.folder).mapValues(\.count)
    var incoming: [FilePath: IncomingUploads] = [:]
    var found: [CaptureLocation: UploadEvidence] = [:]
    for capture in captures {
      let staging = capture.folder.removingLastComponent()
      let uploads =
        if let known = incoming[staging] { known } else { try IncomingUploads(into: staging) }
      incoming[staging] = uploads
      let isOneCapture = inFolder[capture.folder] == 1
      var evidence = UploadEvidence()
      evidence.isArriving = uploads.upload(of: capture, isOneCapture: isOneCapture) != nil
      if isOneCapture {
        let mark = UploadMark(of: capture.folder)
        (evidence.isComplete, evidence.waitsFor) = (mark.isComplete, mark.waitsFor)
        evidence.twinOf = mark.twinOf
        if !evidence.isArriving {
          evidence.problem = mark.problem.map {
            "\(capture.folder.appending(StagingNames.manifest).shown) is not used: \($0.onOneLine)"
          }
        }
      }
      if let signature = FolderSignature(of: capture) {
        evidence.isArriving = evidence.isArriving || signature.isTransferring
        evidence.conflict = signature.conflict
      }
      found[CaptureLocation(capture)] = evidence
    }
    return found
  }

  /// Whether an upload server has something on its way of a capture that is to be processed.
  public static func areArriving(
    _ captures: [Recognition]
  ) throws(FileError) -> Set<CaptureLocation> {
    var incoming: [FilePath: IncomingUploads] = [:]
    var arriving: Set<CaptureLocation> = []
    for capture in captures {
      let staging = capture.folder.removingLastComponent()
      let uploads =
        if let known = incoming[staging] { known } else { try IncomingUploads(into: staging) }
      incoming[staging] = uploads
      if uploads.upload(of: capture, isOneCapture: true) != nil {
        arriving.insert(CaptureLocation(capture))
      }
    }
    return arriving
  }
}
