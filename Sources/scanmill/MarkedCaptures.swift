import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// What `run` leaves alone because a person said so (`mark`): captures that are marked ignore or retire, unless they are
/// named by their own path or by `--id`.
struct MarkedCaptures {
  let output: FilePath
  let findings: [CaptureFinder.Finding]
  let isNamedByID: Bool

  /// Reports of those that are left alone. Of those that are named it says that they were marked; one that was retired
  /// is so no more.
  func left(_ targets: [CaptureTarget]) -> [CaptureReport] {
    let book = MarkBook(ofOutput: output)
    let named = Set(findings.map(\.path))
    let byFile = findings.filter { !FileSystem.isFolder($0.path) }.flatMap(\.captures)
    var left: [CaptureReport] = []
    var retired: [MarkRecord] = []
    for target in targets {
      let capture = target.recognition
      guard
        let record = book.record(of: target.layout, at: CaptureLocation(resolving: capture))
      else { continue }
      let mark = CaptureMark(record)
      guard mark.isLeftAlone else { continue }
      guard isNamedByID || named.contains(capture.path) || byFile.contains(capture) else {
        left.append(target.skipped(mark.words))
        continue
      }
      Console.error(
        "note: \(target.layout.name) is \(mark.words.onOneLine); it is named, so it is processed")
      if record.mark == .retire { retired.append(record) }
    }
    if !retired.isEmpty {
      do throws(FileError) {
        try Marking(ofOutput: output, holder: "scanmill run").forget(retired)
      } catch {
        Console.error("note: \(error)")
      }
    }
    return left
  }
}
