import Captures
import Engine
import Core
import SystemPackage
import Watch

/// What `run` leaves alone: captures that a person has marked ignore or retire (`mark`), and second copies of others
/// that synchronizers have made, and captures of which an upload server has something on its way, unless they are named
/// by their own path or by `--id`.
struct MarkedCaptures {
  let output: FilePath
  let findings: [CaptureFinder.Finding]
  let isNamedByID: Bool
  let isQuiet: Bool
  private let named: Set<FilePath>
  private let byFile: Set<Recognition>

  init(output: FilePath, findings: [CaptureFinder.Finding], isNamedByID: Bool, isQuiet: Bool) {
    self.output = output
    self.findings = findings
    self.isNamedByID = isNamedByID
    self.isQuiet = isQuiet
    named = Set(findings.map(\.path))
    byFile = Set(findings.filter { !FileSystem.isFolder($0.path) }.flatMap(\.captures))
  }

  /// Whether the user named it by its own path or by `--id`.
  func isNamed(_ target: CaptureTarget) -> Bool {
    isNamedByID || named.contains(target.recognition.path) || byFile.contains(target.recognition)
  }

  /// Reports of those that are left alone. Of those that are named it says that they were marked; one that was retired
  /// is so no more, and its results come back.
  ///
  /// - Parameter changes: `false`: nothing is noted, as nothing is processed.
  func left(
    _ targets: [CaptureTarget], changes: Bool = true
  ) throws(FileError) -> [CaptureReport] {
    let book = MarkBook(ofOutput: output)
    let copies = Dictionary(
      ConflictCopies.among(findings.flatMap(\.captures)).map { ($0.location, $0.reason) },
      uniquingKeysWith: { first, _ in first })
    let arriving = try UploadEvidence.areArriving(targets.map(\.recognition))
    var left: [CaptureReport] = []
    var retired: [Marking.Subject] = []
    for target in targets {
      let capture = target.recognition
      let isNamed = isNamed(target)
      if !isNamed, let reason = copies[CaptureLocation(capture)] {
        left.append(target.skipped(reason))
        continue
      }
      if !isNamed, arriving.contains(CaptureLocation(capture)) {
        left.append(target.skipped("an upload of it is on its way"))
        continue
      }
      guard
        var record = book.record(of: target.layout, at: CaptureLocation(resolving: capture))
      else { continue }
      if changes { record = Marking(ofOutput: output, holder: "scanmill run").compare(record) }
      let mark = CaptureMark(record)
      guard mark.isLeftAlone else { continue }
      guard isNamed else {
        left.append(target.skipped(mark.words))
        continue
      }
      let back =
        changes || record.retired == nil
        ? "" : "; its results come back first, which this plan does not know"
      if !isQuiet {
        Console.error(
          "note: \(target.layout.name) is \(mark.words.onOneLine); it is named, so it is processed\(back)"
        )
      }
      if record.mark == .retire, changes {
        retired.append(
          Marking.Subject(id: record.id, folder: record.folder, stem: record.stem))
      }
    }
    if !retired.isEmpty {
      do throws(FileError) {
        for outcome in try Marking(ofOutput: output, holder: "scanmill run").undo(retired) {
          if let message = outcome.message {
            Console.error("note: \(outcome.subject.id): \(message)")
          }
        }
      } catch {
        Console.error("note: \(error)")
      }
    }
    return left
  }
}
